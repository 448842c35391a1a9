#include "poise/data/numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "poise/data/log/text.hpp"

namespace poise {

namespace {

/// Plain decimals of at most 15 digits: both digits and power of ten are exact doubles, so that one
/// division rounds as from_chars does.
std::optional<double> parse_short_decimal(std::string_view text) {
  static constexpr std::array<double, 16> powers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  if (text.size() > 16) return std::nullopt;
  std::uint64_t number = 0;
  std::size_t digits = 0;
  std::size_t point = text.size();
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '.' && point == text.size()) {
      point = k;
    } else if (text[k] >= '0' && text[k] <= '9') {
      number = 10 * number + (text[k] - '0');
      ++digits;
    } else {
      return std::nullopt;
    }
  }
  if (digits == 0 || digits > 15) return std::nullopt;
  const std::size_t decimals = point == text.size() ? 0 : text.size() - point - 1;
  return static_cast<double>(number) / powers[decimals];
}

}  // namespace

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<std::int64_t> parse_whole_number(std::string_view text, std::int64_t limit) {
  if (!is_whole_number(text)) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > limit) return std::nullopt;
  return number;
}

bool looks_like_unix_time(double number) {
  constexpr double first = 315'532'800;   // 1980
  constexpr double last = 4'102'444'800;  // 2100
  const auto within = [&](double seconds) { return seconds >= first && seconds < last; };
  return number == std::floor(number) && (within(number) || within(number / 1000));
}

std::optional<double> parse_number(std::string_view text) {
  if (const std::optional<double> quick = parse_short_decimal(text)) return quick;
  text = logs::trimmed(text);
  // from_chars accepts no plus sign.
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  // from_chars does not distinguish too large from too small; only the latter can have a negative exponent
  // that matters in a log of ratings or counts.
  if (error == std::errc::result_out_of_range) {
    const bool tiny = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
    return tiny ? 0.0 : std::numeric_limits<double>::infinity();
  }
  return value;
}

}  // namespace poise
