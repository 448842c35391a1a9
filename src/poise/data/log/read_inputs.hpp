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

std::string name_of(const LogInput& input);

/// The format to read by, where this one was detected: see resolve_log_format.
LogFormat format_for(LogFormat detected, const LogOptions& options);

/// Error{usage} where a row could be liked and disliked; `keep_above` is the threshold that applies.
void check_dislike_below(const LogOptions& options);

/// The sizes of pieces of the log. No result depends on them; tests make them small.
struct ReadSizes {
  std::size_t chunk = 1U << 20U;   ///< bytes parsed by one thread at a time
  std::size_t batch = 16U << 20U;  ///< bytes parsed while the next ones are read
};

/// read_log, after the inputs were resolved to files. A format that is still automatic is found from the
/// first input's first bytes.
Interactions read_inputs(const std::vector<LogInput>& inputs, const LogOptions& options,
                         const ReadSizes& sizes, const Execution& execution);

}  // namespace poise::logs
