#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/data/numbers.hpp"
#include "poise/data/split.hpp"
#include "poise/data/stretches.hpp"
#include "poise/data/times.hpp"

namespace poise {
namespace {

void check_times(const Interactions& log) {
  if (log.rows() == 0)
    fail(ErrorKind::input, "no row of the log is left: {} have an empty id, {} are below the threshold",
         log.empty_ids, log.below_threshold);
  if (log.time.empty())
    fail(ErrorKind::usage,
         "the log has no times, which the split needs; name their column as the fourth of {}", "columns"_p);
}

/// The place as a time, among these times in ascending order; `name` is its flag.
std::int64_t time_of(const CutPlace& place, std::span<const std::int64_t> times, const ParameterName& name) {
  if (place.time) return *place.time;
  if (!(place.share > 0 && place.share < 1))
    fail(ErrorKind::usage, "{} has a share of {}; choose one above 0 and below 1", name, place.share);
  const auto rows = static_cast<std::int64_t>(times.size());
  const auto latest = static_cast<std::int64_t>(std::llround(place.share * static_cast<double>(rows)));
  return times[rows - std::clamp<std::int64_t>(latest, 1, rows)];
}

/// Cuts the times, which are ascending, and checks that each part has a row.
TimeCuts find_cuts(std::span<const std::int64_t> times, const TimeSplit& options) {
  TimeCuts cuts;
  const auto before = [&](std::int64_t time) {
    return times.first(std::ranges::lower_bound(times, time) - times.begin());
  };
  const std::int64_t latest = times.back();
  cuts.end = options.test_to;
  if (cuts.end) times = before(*cuts.end);
  if (times.empty())
    fail(ErrorKind::usage, "no row of the log is before {} {}; choose a later time", "test-to"_p,
         time_text(*cuts.end));
  cuts.test = time_of(options.test_from, times, "test-from"_p);
  if (cuts.end && cuts.test >= *cuts.end)
    fail(ErrorKind::usage, "{} {} is not before {} {}", "test-from"_p, time_text(cuts.test), "test-to"_p,
         time_text(*cuts.end));
  if (times.back() < cuts.test)
    fail(ErrorKind::usage, "no row {} is at or after {} {}: the latest is of {}; choose an earlier time",
         cuts.end ? "of the test part" : "of the log", "test-from"_p, time_text(cuts.test),
         time_text(latest));
  const auto earlier = before(cuts.test);
  if (earlier.empty())
    fail(ErrorKind::usage, "no row of the log is before {} {}: the earliest is of {}; choose a later time",
         "test-from"_p, time_text(cuts.test), time_text(times.front()));
  if (!options.validation_from) return cuts;
  cuts.validation = time_of(*options.validation_from, earlier, "validation-from"_p);
  if (*cuts.validation >= cuts.test)
    fail(ErrorKind::usage, "{} {} is not before {} {}; choose an earlier time", "validation-from"_p,
         time_text(*cuts.validation), "test-from"_p, time_text(cuts.test));
  if (earlier.back() < *cuts.validation)
    fail(ErrorKind::usage, "no row of the log is from {} {} up to {} {}; choose an earlier time",
         "validation-from"_p, time_text(*cuts.validation), "test-from"_p, time_text(cuts.test));
  if (before(*cuts.validation).empty())
    fail(ErrorKind::usage,
         "no row of the log is before {} {}, so that there is nothing to train on; choose a later time or "
         "{} none",
         "validation-from"_p, time_text(*cuts.validation), "validation-from"_p);
  return cuts;
}

/// The stretches of one user's rows, which are in the order of the log.
void cut_user(const Interactions& log, std::span<std::int64_t> rows, std::int64_t holdout,
              Stretches& stretches) {
  std::ranges::stable_sort(rows, {}, [&](std::int64_t row) { return log.time[row]; });
  std::vector<std::pair<std::int32_t, std::size_t>> items;  // with their places among the rows
  for (std::size_t k = 0; k < rows.size(); ++k) items.emplace_back(log.item[rows[k]], k);
  std::ranges::sort(items);
  std::vector<std::size_t> firsts;
  for (std::size_t k = 0; k < items.size(); ++k) {
    if (k == 0 || items[k].first != items[k - 1].first) firsts.push_back(items[k].second);
  }
  const auto count = static_cast<std::int64_t>(firsts.size());
  if (count - holdout <= holdout) return;
  std::ranges::sort(firsts);
  const std::size_t test = firsts[count - holdout];
  for (std::size_t k = firsts[count - 2 * holdout]; k < rows.size(); ++k)
    stretches[rows[k]] = k < test ? Stretch::validation : Stretch::test;
}

}  // namespace

CutPlace parse_cut(std::string_view text, TimeUnit unit) {
  if (text.ends_with('%')) {
    const std::optional<double> percent = parse_number(text.substr(0, text.size() - 1));
    if (!percent || !(*percent > 0 && *percent < 100))
      fail(ErrorKind::usage, "'{}' is no share of the rows; write one above 0% and below 100%, as in 10%",
           text);
    return {.share = *percent / 100};
  }
  if (const std::optional<double> number = parse_number(text); number && *number > 0 && *number < 1)
    fail(ErrorKind::usage, "'{}' is not taken as a time; write a share of the rows as {:g}%", text,
         *number * 100);
  const std::optional<std::int64_t> year = text.size() == 4 ? parse_whole_number(text, 2100) : std::nullopt;
  if (year && *year >= 1900 && unit == TimeUnit::automatic)
    fail(ErrorKind::usage,
         "'{0}' is not taken as a time; write the year as {0}-01-01, or say the unit of a number", text);
  const ParsedTime parsed = parse_time(text, unit);
  if (parsed.problem) fail(ErrorKind::usage, "the time '{}' {}", text, *parsed.problem);
  return {.time = parsed.microseconds};
}

Dataset split_time(const Interactions& log, const Filters& filters, const TimeSplit& options,
                   const Execution& execution) {
  check_times(log);
  std::vector<std::int64_t> times = log.time;
  std::ranges::sort(times);
  const TimeCuts cuts = find_cuts(times, options);
  Stretches stretches(log.rows());
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    const std::int64_t time = log.time[r];
    stretches[r] = cuts.end && time >= *cuts.end                 ? Stretch::behind
                   : time >= cuts.test                           ? Stretch::test
                   : cuts.validation && time >= *cuts.validation ? Stretch::validation
                                                                 : Stretch::training;
  }
  Dataset dataset =
      split_by(log, stretches, cuts.validation.has_value(), SplitKind::time, filters, execution);
  dataset.cuts = cuts;
  return dataset;
}

Dataset split_last(const Interactions& log, const Filters& filters, std::int64_t holdout,
                   const Execution& execution) {
  if (holdout < 1) fail(ErrorKind::usage, "{} {} is out of range; choose at least 1", "holdout"_p, holdout);
  check_times(log);
  std::vector<std::int64_t> ends(log.users.size() + 1, 0);
  for (const std::int32_t user : log.user) ++ends[user + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<std::int64_t> rows(log.rows());
  for (std::int64_t r = log.rows() - 1; r >= 0; --r) rows[--ends[log.user[r] + 1]] = r;
  // Now user u's rows begin at ends[u + 1], and end where those of the next one begin.
  ends.push_back(log.rows());
  Stretches stretches(log.rows(), Stretch::training);
  for_each_row({log.users.size(), 1024}, execution.threads, [&](std::int64_t u) {
    cut_user(log, std::span(rows).subspan(ends[u + 1], ends[u + 2] - ends[u + 1]), holdout, stretches);
  });
  if (std::ranges::count(stretches, Stretch::test) == 0)
    fail(ErrorKind::usage,
         "no user has more than {} items, as the split needs with {} {}; lower it or use more data",
         2 * holdout, "holdout"_p, holdout);
  return split_by(log, stretches, true, SplitKind::last, filters, execution);
}

}  // namespace poise
