#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/data/log/read_inputs.hpp"
#include "poise/data/log_reader.hpp"

namespace poise::testing {

/// Reads bytes as a log named "log"; the format is csv unless options say otherwise.
Interactions read_text(std::string_view text, LogOptions options = {}, std::size_t chunk = 1U << 20U,
                       int threads = 1);

/// The rows as "user|item" or "user|item|value".
std::vector<std::string> rows_of(const Interactions& log);

/// The error of reading these bytes; a failed expectation when there is none.
Error error_of(std::string_view text, const LogOptions& options = {}, std::size_t chunk = 1U << 20U);

/// Everything in the log as one text, for comparisons.
std::string everything(const Interactions& log);

std::string gzip(std::string_view bytes);
std::string zstd(std::string_view bytes);

}  // namespace poise::testing
