#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
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

/// How the log is cut. No result depends on it; tests make it small.
struct ReadSizes {
  std::size_t chunk = 1U << 20U;   ///< bytes parsed by one thread at a time
  std::size_t batch = 16U << 20U;  ///< bytes parsed while the next ones are read
};

/// read_log once the inputs are known to be files and options.format is not automatic.
Interactions read_inputs(const std::vector<LogInput>& inputs, const LogOptions& options,
                         const ReadSizes& sizes, const Execution& execution);

}  // namespace poise::logs
