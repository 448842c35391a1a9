#include "time_flags.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "poise/base/error.hpp"

#include "help.hpp"
#include "option_values.hpp"

namespace poise::app {
namespace {

const std::vector<std::string> unit_names = {"auto", "s", "ms", "us", "ns"};

}  // namespace

bool is_split_in_time(const std::string& split) { return split == "time" || split == "last"; }

void TimeFlags::check(const std::string& split) const {
  const auto refuse = [](bool given, std::string_view flag, std::string_view wanted) {
    if (given) fail(ErrorKind::usage, "{} goes with --split {}", flag, wanted);
  };
  if (split == "time" && test_from.empty())
    fail(ErrorKind::usage,
         "--split time needs --test-from: a date (2011-12-01), a number as in the log, or a share of the "
         "latest rows (10%)");
  refuse(split != "time" && !test_from.empty(), "--test-from", "time");
  refuse(split != "time" && !test_to.empty(), "--test-to", "time");
  refuse(split != "time" && !validation_from.empty(), "--validation-from", "time");
  refuse(split != "last" && holdout.has_value(), "--holdout", "last");
  refuse(!is_split_in_time(split) && unit != "auto", "--time-unit", "time or last");
  static_cast<void>(splits());
}

TimeUnit TimeFlags::time_unit() const {
  return static_cast<TimeUnit>(std::ranges::find(unit_names, unit) - unit_names.begin());
}

std::vector<TimeSplit> TimeFlags::splits() const {
  constexpr double usual_share = 0.1;
  const auto place_of = [&](const std::string& text, std::string_view flag) {
    try {
      return parse_cut(text, time_unit());
    } catch (const Error& error) {
      fail(ErrorKind::usage, "{}: {}", flag, error.what());
    }
  };
  const auto time_only = [&](const std::string& text, std::string_view flag, std::string_view why) {
    const CutPlace place = place_of(text, flag);
    if (!place.time) fail(ErrorKind::usage, "{} takes a time, not the share '{}'{}", flag, text, why);
    return *place.time;
  };
  std::vector<TimeSplit> splits;
  for (const std::string& text : test_from) {
    TimeSplit split{.test_from = place_of(text, "--test-from")};
    if (test_from.size() > 1)
      split.test_from.time = time_only(text, "--test-from", ", where it cuts the log several times");
    if (validation_from.empty())
      split.validation_from = CutPlace{.share = split.test_from.time ? usual_share : split.test_from.share};
    else if (validation_from != "none")
      split.validation_from = place_of(validation_from, "--validation-from");
    splits.push_back(split);
  }
  if (splits.empty()) return splits;
  if (splits.size() > 1 && !validation_from.empty() && splits.front().validation_from &&
      splits.front().validation_from->time)
    fail(ErrorKind::usage, "--validation-from takes a share where --test-from cuts the log several times");
  std::ranges::sort(splits, {}, [](const TimeSplit& split) { return split.test_from.time; });
  for (std::size_t k = 0; k + 1 < splits.size(); ++k) {
    splits[k].test_to = splits[k + 1].test_from.time;
    if (splits[k].test_to == splits[k].test_from.time)
      fail(ErrorKind::usage, "--test-from has a time twice; name each cut once");
  }
  if (!test_to.empty()) splits.back().test_to = time_only(test_to, "--test-to", "");
  return splits;
}

void add_time_flags(CLI::App& parser, TimeFlags& flags) {
  parser
      .add_option(
          "--test-from", flags.test_from,
          "Of --split time: where the test part begins:\na date, a number as in the log, or a share of the "
          "latest rows (10%); several times cut the log several times, for a study over cuts")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("TIME|SHARE");
  parser
      .add_option("--test-to", flags.test_to,
                  "Of --split time: rows at or after this time are left out (default: none)")
      ->type_name("TIME");
  parser
      .add_option("--validation-from", flags.validation_from,
                  "Of --split time: where validation begins, a time, a share of the rows before the test "
                  "part, or none "
                  "(default: the share of --test-from, else 10%)")
      ->type_name("TIME|SHARE");
  parser
      .add_option("--holdout", flags.holdout,
                  "Of --split last: how many last items of each user are for test, and before them for "
                  "validation (default: 1)")
      ->check(whole_number(1, std::numeric_limits<std::int32_t>::max()));
  parser
      .add_option(
          "--time-unit", flags.unit,
          "What numbers in the column of times count since 1970: auto (by their size), s, ms, us or ns")
      ->check(one_of(unit_names))
      ->capture_default_str();
  put_into_group(parser, "Splits", {"--test-to", "--validation-from", "--holdout", "--time-unit"});
}

}  // namespace poise::app
