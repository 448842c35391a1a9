#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poise/data/dataset_file.hpp"
#include "poise/search/search.hpp"

#include "command.hpp"

namespace poise::app {

/// The options that `search` and `study` share.
struct SearchingOptions {
  std::string grid = "best";
  std::string metric = "ndcg@100";
  std::string metrics = "recall@20,recall@50,ndcg@100";
  std::string denominator = "min";
  int refine = 0;
  bool no_expand = false;
  std::string time_limit;
  std::optional<std::int64_t> points;
  bool no_race = false;
  std::filesystem::path journal;

  [[nodiscard]] MeasureOptions measure() const;
  [[nodiscard]] SearchMethod method() const;
  /// The grid's values; none by profiles, where the axes are free.
  [[nodiscard]] std::vector<double> lambdas() const;
  [[nodiscard]] std::vector<double> alphas() const;
  /// The end of the time limit, counted from now.
  [[nodiscard]] std::optional<Points::Clock::time_point> until() const;
};
void add_searching_options(CLI::App& parser, SearchingOptions& options);

/// Prints that --refine and --no-expand have no effect without a fixed grid.
void say_what_has_no_effect(const SearchingOptions& options, const Context& context);

/// A given split without a validation part, with one made of training rows, and a message about it; none if
/// the data have a validation part or cannot have one. `name` is the data's name in the message.
std::optional<LoadedDataset> validation_of_given(const LoadedDataset& data, const std::string& name,
                                                 const Context& context);

/// Seconds from a time such as 90s, 30m, 2h or 1.5d; Error{usage} for anything else.
double parse_duration(std::string_view text);

/// After an interruption: prints that nothing is lost.
void say_if_interrupted(const std::filesystem::path& journal, const Context& context);

}  // namespace poise::app
