#include "poise/data/times.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "poise/data/log/text.hpp"
#include "poise/data/numbers.hpp"

namespace poise {
namespace {

constexpr std::int64_t per_second = 1'000'000;
constexpr std::int64_t per_day = 86'400 * per_second;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

constexpr std::string_view no_time =
    "is no time; write a date (2011-12-31, 2011-12-31T08:26:01Z) or a number of seconds or milliseconds "
    "since "
    "1970, or name another column";
constexpr std::string_view out_of_range =
    "is more than 290 000 years from 1970; correct it, or say the unit of the numbers";
constexpr std::string_view no_such_day = "is no day of the calendar or no time of day; correct it";
constexpr std::string_view two_ways =
    "can be read as day/month or as month/day; write the year first, as in 2011-12-31 08:26";
constexpr std::string_view date_or_number =
    "can be the date or a number of seconds; write a date as 2011-12-31, or say the unit of the numbers";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

ParsedTime trouble(std::string_view problem) { return {.problem = problem}; }

/// Reads a text from its front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool take(char wanted) {
    if (peek() != wanted || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Exactly `count` digits.
  bool digits(int count, int& number) {
    if (static_cast<int>(rest_.size()) < count) return false;
    number = 0;
    for (int k = 0; k < count; ++k) {
      if (!is_digit(rest_[k])) return false;
      number = 10 * number + (rest_[k] - '0');
    }
    rest_.remove_prefix(count);
    return true;
  }
  /// Millionths from the digits of a fraction, of which there is at least one.
  bool fraction(std::int64_t& millionths) {
    if (!is_digit(peek())) return false;
    std::int64_t scale = per_second / 10;
    millionths = 0;
    for (; is_digit(peek()); rest_.remove_prefix(1), scale /= 10) millionths += scale * (peek() - '0');
    return true;
  }
  void skip_blanks() {
    while (peek() == ' ') rest_.remove_prefix(1);
  }

 private:
  std::string_view rest_;
};

/// "T08:26:01.5" or "  08:26" within the day; false if it is none.
bool take_time_of_day(Cursor& cursor, std::int64_t& within, bool& exists) {
  const bool letter = cursor.take('T') || cursor.take('t');
  if (!letter) cursor.skip_blanks();
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::int64_t fraction = 0;
  if (!cursor.digits(2, hour) || !cursor.take(':') || !cursor.digits(2, minute)) return false;
  if (cursor.take(':')) {
    if (!cursor.digits(2, second)) return false;
    if ((cursor.take('.') || cursor.take(',')) && !cursor.fraction(fraction)) return false;
  }
  // A leap second is the first of the next minute.
  exists = hour < 24 && minute < 60 && second <= 60;
  within = (hour * 3600 + minute * 60 + second) * per_second + fraction;
  return true;
}

/// "Z", "+01:00", "+0100", "+01" or nothing; false if it is none of these.
bool take_zone(Cursor& cursor, std::int64_t& east, bool& exists) {
  cursor.skip_blanks();
  if (cursor.at_end() || cursor.take('Z') || cursor.take('z')) return true;
  const bool minus = cursor.take('-');
  if (!minus && !cursor.take('+')) return false;
  int hours = 0;
  int minutes = 0;
  if (!cursor.digits(2, hours)) return false;
  const bool colon = cursor.take(':');
  if ((colon || !cursor.at_end()) && !cursor.digits(2, minutes)) return false;
  exists = exists && hours < 24 && minutes < 60;
  east = (hours * 3600 + minutes * 60) * per_second * (minus ? -1 : 1);
  return true;
}

/// A text that begins with four digits and '-' or '/'.
ParsedTime parse_date(std::string_view text) {
  namespace ch = std::chrono;
  Cursor cursor(text);
  int year = 0;
  int month = 0;
  int day = 0;
  if (!cursor.digits(4, year)) return trouble(no_time);
  const char separator = cursor.peek();
  if (!cursor.take(separator) || !cursor.digits(2, month) || !cursor.take(separator) ||
      !cursor.digits(2, day))
    return trouble(no_time);
  std::int64_t within = 0;
  std::int64_t east = 0;
  bool exists = true;
  if (!cursor.at_end() && (!take_time_of_day(cursor, within, exists) || !take_zone(cursor, east, exists)))
    return trouble(no_time);
  if (!cursor.at_end()) return trouble(no_time);
  const ch::year_month_day date{ch::year(year), ch::month(month), ch::day(day)};
  if (!exists || !date.ok() || year == 0) return trouble(no_such_day);
  const std::int64_t days = ch::sys_days(date).time_since_epoch().count();
  return {.microseconds = days * per_day + within - east, .problem = {}};
}

/// Eight digits that are a date of the years 1900 to 2099.
bool is_plain_date(std::string_view text) {
  if (text.size() != 8 || !is_whole_number(text)) return false;
  const auto number = [&](int first, int count) {
    int value = 0;
    for (int k = first; k < first + count; ++k) value = 10 * value + (text[k] - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)), std::chrono::month(number(4, 2)),
                                         std::chrono::day(number(6, 2))};
  return (text.starts_with("19") || text.starts_with("20")) && date.ok();
}

TimeUnit unit_of(double size) {
  if (size < 1e11) return TimeUnit::seconds;
  if (size < 1e14) return TimeUnit::milliseconds;
  return size < 1e17 ? TimeUnit::microseconds : TimeUnit::nanoseconds;
}

/// Microseconds in a unit, or for nanoseconds how many of them are one: (multiply, divide).
std::pair<std::int64_t, std::int64_t> scale_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::milliseconds:
      return {1000, 1};
    case TimeUnit::microseconds:
      return {1, 1};
    case TimeUnit::nanoseconds:
      return {1, 1000};
    default:
      return {per_second, 1};
  }
}

/// A number that counts the unit.
ParsedTime parse_count(std::string_view text, TimeUnit asked) {
  const std::optional<double> rough = parse_number(text);
  if (!rough) return trouble(no_time);
  const TimeUnit unit = asked == TimeUnit::automatic ? unit_of(std::abs(*rough)) : asked;
  const auto [times, over] = scale_of(unit);
  // 0 is the same in every unit, and most often stands for a time that is not known.
  ParsedTime parsed{.unit = *rough == 0 ? TimeUnit::automatic : unit, .problem = {}};
  constexpr double beyond = 9.2e18;
  if (!(std::abs(*rough) / static_cast<double>(over) * static_cast<double>(times) < beyond))
    return trouble(out_of_range);
  std::string_view digits = text;
  const bool minus = digits.starts_with('-');
  if (minus || digits.starts_with('+')) digits.remove_prefix(1);
  const std::string_view whole = digits.substr(0, digits.find('.'));
  const std::string_view fraction = digits.substr(std::min(whole.size() + 1, digits.size()));
  const std::optional<std::int64_t> exact = parse_whole_number(whole, most);
  if (exact && fraction.find_first_not_of("0123456789") == std::string_view::npos) {
    std::int64_t part = 0;
    Cursor(fraction).fraction(part);
    // Of the millionths of a unit whole microseconds remain.
    const std::int64_t size = *exact / over * times + part * times / per_second / over;
    parsed.microseconds = minus ? -size : size;
  } else {
    parsed.microseconds =
        static_cast<std::int64_t>(*rough * static_cast<double>(times) / static_cast<double>(over));
  }
  return parsed;
}

bool begins_like_date(std::string_view text) {
  return text.size() > 4 && is_whole_number(text.substr(0, 4)) && (text[4] == '-' || text[4] == '/');
}

}  // namespace

ParsedTime parse_time(std::string_view text, TimeUnit unit) {
  text = logs::trimmed(text);
  if (text.empty()) return trouble("is empty; give every row its time, or skip bad lines");
  if (begins_like_date(text)) return parse_date(text);
  if (unit == TimeUnit::automatic && is_plain_date(text)) return trouble(date_or_number);
  ParsedTime parsed = parse_count(text, unit);
  const bool slashes = is_digit(text.front()) &&
                       text.substr(0, 4).find_first_of("/.-") != std::string_view::npos &&
                       text.find_first_of("/.-", text.find_first_of("/.-") + 1) != std::string_view::npos;
  if (parsed.problem == no_time && slashes) return trouble(two_ways);
  return parsed;
}

bool looks_like_time(std::string_view text) {
  text = logs::trimmed(text);
  if (begins_like_date(text)) return !parse_date(text).problem;
  const std::optional<double> number = parse_number(text);
  return number && looks_like_unix_time(std::floor(*number));
}

std::string time_text(std::int64_t microseconds) {
  namespace ch = std::chrono;
  constexpr std::int64_t year_1 = -62'135'596'800;
  constexpr std::int64_t year_10000 = 253'402'300'800;
  const std::int64_t seconds = microseconds / per_second - (microseconds % per_second < 0 ? 1 : 0);
  if (seconds < year_1 || seconds >= year_10000) return fmt::format("{}", seconds);
  const std::int64_t fraction = microseconds - seconds * per_second;
  const ch::sys_seconds at{ch::seconds(seconds)};
  const auto midnight = ch::floor<ch::days>(at);
  const ch::year_month_day date(midnight);
  const ch::hh_mm_ss clock(at - midnight);
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (microseconds % per_day == 0) return text;
  text += fmt::format("T{:02}:{:02}:{:02}", clock.hours().count(), clock.minutes().count(),
                      clock.seconds().count());
  if (fraction > 0) {
    text += fmt::format(".{:06}", fraction);
    text.resize(text.find_last_not_of('0') + 1);
  }
  return text + "Z";
}

std::string_view time_unit_name(TimeUnit unit) {
  constexpr std::array<std::string_view, 5> names = {"automatic", "seconds", "milliseconds", "microseconds",
                                                     "nanoseconds"};
  return names[static_cast<std::size_t>(unit)];
}

}  // namespace poise
