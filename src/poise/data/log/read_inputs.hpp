#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/data/interactions.hpp"
#include "poise/data/log_reader.hpp"

namespace poise::logs {

/// A file, or bytes in memory under its name.
struct LogInput {
  std::filesystem::path path;
  std::optional<std::string_view> bytes = {};
};

/// The sizes of pieces of the log. No result depends on them; tests make them small.
struct ReadSizes {
  std::size_t chunk = 1U << 20U;   ///< bytes parsed by one thread at a time
  std::size_t batch = 16U << 20U;  ///< bytes parsed while the next ones are read
};

/// read_log, after the inputs were resolved to files and options.format to a format.
Interactions read_inputs(const std::vector<LogInput>& inputs, const LogOptions& options,
                         const ReadSizes& sizes, const Execution& execution);

}  // namespace poise::logs
