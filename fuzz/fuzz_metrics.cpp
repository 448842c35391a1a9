#include <cstddef>
#include <cstdint>
#include <string_view>

#include "poise/base/error.hpp"
#include "poise/evaluate/metrics.hpp"

/// Any text is either metrics or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const poise::Metric& metric :
         poise::parse_metrics(std::string_view(reinterpret_cast<const char*>(data), size))) {
      if (poise::parse_metric(poise::to_string(metric)) != metric) __builtin_trap();
    }
  } catch (const poise::Error&) {
  }
  return 0;
}
