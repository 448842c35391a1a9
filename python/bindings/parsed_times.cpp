#include "parsed_times.hpp"

#include "poise/base/error.hpp"
#include "poise/data/times.hpp"

#include "splits.hpp"

namespace poise::python {

ParsedTimes::ParsedTimes(const std::string& unit) : unit_(unit_of(unit)) {}

std::int64_t ParsedTimes::parse(std::string_view text, std::int64_t row) {
  const ParsedTime parsed = parse_time(text, unit_);
  if (parsed.problem) fail(ErrorKind::input, "row {}: the time '{}' {}", row, text, *parsed.problem);
  if (parsed.unit != TimeUnit::automatic) {
    if (seen_ != TimeUnit::automatic && seen_ != parsed.unit)
      fail(ErrorKind::input,
           "row {}: the time '{}' counts another unit than those before it; say which with {}", row, text,
           "time-unit"_p);
    seen_ = parsed.unit;
  }
  return parsed.microseconds;
}

}  // namespace poise::python
