#include <cstdlib>

#include "poise/data/times.hpp"

#include "log_fuzz.hpp"

/// Times: the first byte chooses the unit, the format and whether the columns are named; the rest is a time,
/// and a log with times.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  using poise::LogFormat;
  const std::uint8_t choice = data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto unit = static_cast<poise::TimeUnit>(choice % 5);
  const poise::ParsedTime parsed = poise::parse_time(bytes, unit);
  constexpr std::int64_t near_the_limit = 9'100'000'000'000'000'000;
  if (!parsed.problem && std::abs(parsed.microseconds) < near_the_limit) {
    // What is printed for a time is read as the same one; beyond the calendar it is whole seconds.
    const std::string text = poise::time_text(parsed.microseconds);
    const poise::ParsedTime again = poise::parse_time(text, poise::TimeUnit::seconds);
    if (again.problem || std::abs(again.microseconds - parsed.microseconds) >= 1'000'000) std::abort();
    if (text.find('-', 1) != std::string::npos && again.microseconds != parsed.microseconds) std::abort();
  }
  poise::LogOptions options;
  constexpr LogFormat formats[] = {LogFormat::csv, LogFormat::json_lines, LogFormat::netflix,
                                   LogFormat::movielens};
  options.format = formats[choice / 5 % 4];
  options.times = true;
  options.time_unit = unit;
  if (choice >= 128 && options.format != LogFormat::netflix) options.columns = {"u", "i", "", "t"};
  poise::fuzz::read_in_every_way(bytes, options);
  return 0;
}
