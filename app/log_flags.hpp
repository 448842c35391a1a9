#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poise/data/log_reader.hpp"

#include "command.hpp"

namespace poise::app {

/// The flags that say how to read a log.
struct LogFlags {
  std::string format = "auto";
  std::string columns;
  std::string delimiter;
  std::string header = "auto";
  std::optional<double> keep_above;
  std::optional<double> dislike_below;
  bool skip_bad_lines = false;
  std::string query;

  /// Error{usage} for a malformed list of columns.
  void check() const;
  /// The options of read_log for these inputs, with the default threshold of their format.
  [[nodiscard]] LogOptions options(const std::vector<std::filesystem::path>& inputs) const;
};

/// Suggests --keep-above if a log was read without a threshold and its values show that users did not like
/// everything in it: ratings, or values below 0.
void hint_about_values(const Interactions& log, const Context& context);

/// All flags but --format. Returns them, for callers that allow them only with another flag.
std::vector<CLI::Option*> add_log_flags(CLI::App& parser, LogFlags& flags);

}  // namespace poise::app
