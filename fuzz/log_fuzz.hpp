#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "poise/base/error.hpp"
#include "poise/data/log/read_inputs.hpp"

namespace poise::fuzz {

/// What reading the bytes gives, as text: the log, or the error's message.
inline std::string outcome(std::string_view bytes, const LogOptions& options, std::size_t chunk) {
  Execution execution;
  execution.threads = 1;
  try {
    const Interactions log =
        logs::read_inputs({{"log", bytes}}, options, {.chunk = chunk, .batch = 4 * chunk}, execution);
    std::string text =
        fmt::format("{} {} {} {}\n", log.reading, log.empty_ids, log.below_threshold, log.skipped_lines);
    for (std::int64_t k = 0; k < log.rows(); ++k) {
      text += fmt::format("{} {} {} {}\n", log.users[log.user[k]], log.items[log.item[k]],
                          log.value.empty() ? 0.0F : log.value[k], log.time.empty() ? 0 : log.time[k]);
    }
    return text;
  } catch (const Error& error) {
    return error.what();
  }
}

/// Reads the bytes with and without bad lines, in one piece and in small ones; the outcome must be the same.
inline void read_in_every_way(std::string_view bytes, LogOptions options) {
  // A few compressed bytes can hold millions of tiny chunks; fuzz_byte_source is there for them.
  if (bytes.starts_with("\x28\xb5\x2f\xfd") || bytes.starts_with("\x1f\x8b")) return;
  for (const bool skip : {false, true}) {
    options.skip_bad_lines = skip;
    const std::string expected = outcome(bytes, options, 1U << 20U);
    if (outcome(bytes, options, 1) != expected || outcome(bytes, options, 24) != expected) std::abort();
  }
}

}  // namespace poise::fuzz
