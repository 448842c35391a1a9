#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poise/data/log_reader.hpp"

#include "command.hpp"

namespace poise::app {

/// How a log is to be read, as flags.
struct LogFlags {
  std::string format = "auto";
  std::string columns;
  std::string delimiter;
  std::string header = "auto";
  std::optional<double> keep_above;
  bool skip_bad_lines = false;

  /// Error{usage} for a list of columns that is none.
  void check() const;
  /// What read_log takes for these inputs, with the threshold that is usual for their format.
  [[nodiscard]] LogOptions options(const std::vector<std::filesystem::path>& inputs) const;
};

/// A message with the flag to use where the values of a log that was read without a threshold say that not
/// everything in it was liked: ratings, or values below 0.
void hint_about_values(const Interactions& log, const Context& context);

/// All but --format. Returns them, for whoever allows them only with another flag.
std::vector<CLI::Option*> add_log_flags(CLI::App& parser, LogFlags& flags);

}  // namespace poise::app
