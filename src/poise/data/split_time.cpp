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
#include "poise/data/catalogue.hpp"
#include "poise/data/item_index.hpp"
#include "poise/data/numbers.hpp"
#include "poise/data/split.hpp"
#include "poise/data/times.hpp"

namespace poise {
namespace {

/// The part of a split in time to which a row of the log belongs.
enum class Stretch : std::uint8_t { training, validation, test, behind };
using Stretches = std::vector<Stretch>;

constexpr std::int32_t no_user = -1;

/// Some rows of a log, in its order. Users are numbered by first appearance among them, so that other rows
/// have no influence; items keep their numbers.
struct SomeRows {
  Interactions log;
  std::vector<std::int32_t> in_whole;  ///< the whole log's number of each user
  std::vector<std::int32_t> number;    ///< of each user of the whole log, or no_user
};

SomeRows rows_of(const Interactions& log, const Stretches& stretches, Stretch first, Stretch last) {
  SomeRows some;
  some.log.items = log.items;
  some.number.assign(log.users.size(), no_user);
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    if (stretches[r] < first || stretches[r] > last) continue;
    std::int32_t& number = some.number[log.user[r]];
    if (number == no_user) {
      number = static_cast<std::int32_t>(some.in_whole.size());
      some.in_whole.push_back(log.user[r]);
      some.log.users.push_back(log.users[log.user[r]]);
    }
    some.log.user.push_back(number);
    some.log.item.push_back(log.item[r]);
    if (!log.value.empty()) some.log.value.push_back(log.value[r]);
  }
  return some;
}

/// The numbers of the log's items among the training items.
Catalogue catalogue_of(const Interactions& log, const Ids& items) {
  Catalogue catalogue{std::vector<std::int32_t>(log.items.size(), Catalogue::outside), items};
  const ItemIndex index(catalogue.ids);
  for (std::int64_t i = 0; i < log.items.size(); ++i)
    catalogue.number[i] = index.find(log.items[i]).value_or(Catalogue::outside);
  return catalogue;
}

/// Chooses the users of a part and their targets; counts what is left out.
class HoldOut {
 public:
  HoldOut(const Histories& before, const Histories& later, const Catalogue& catalogue, std::int64_t least,
          PrepareCounts& counts)
      : before_(before), later_(later), catalogue_(catalogue), least_(least), counts_(counts) {
    last_with_.assign(before.items, no_user);
  }

  /// A user with these numbers before the cut (or no_user) and after it.
  void add(std::int32_t before, std::int32_t later) {
    if (before == no_user || items_before(before) < least_) {
      ++counts_.unknown_users;
      counts_.unknown_interactions += later_.last[later] - later_.first[later];
      return;
    }
    for (const std::int32_t item : before_.user(before)) last_with_[item] = before;
    users_.push_back(before);
    for (std::int64_t slot = later_.first[later]; slot < later_.last[later]; ++slot) {
      const std::int32_t item = later_.item[slot];
      const std::int32_t number = catalogue_.number[item];
      if (last_with_[item] == before) {
        ++counts_.repeats;
      } else if (number == Catalogue::outside) {
        ++counts_.outside_catalogue;
      } else {
        targets_.push_back({number, slot});
      }
    }
    ends_.push_back(targets_.size());
  }

  [[nodiscard]] HeldOut take(const Interactions& before, const Execution& execution) const {
    const auto rows = static_cast<std::int64_t>(users_.size());
    const auto history = [&](std::int64_t k, const auto& add) {
      for_each_entry(before_, catalogue_, users_[k], add);
    };
    const auto targets = [&](std::int64_t k, const auto& add) {
      for (std::size_t e = k == 0 ? 0 : ends_[k - 1]; e < ends_[k]; ++e) add(targets_[e]);
    };
    return {.users = select(before.users, users_),
            .fold_in = build_rows(rows, catalogue_, before_.value, history, execution),
            .targets = build_rows(rows, catalogue_, later_.value, targets, execution)};
  }

 private:
  [[nodiscard]] std::int64_t items_before(std::int32_t user) const {
    const auto items = before_.user(user);
    return std::ranges::count_if(
        items, [&](std::int32_t item) { return catalogue_.number[item] != Catalogue::outside; });
  }

  const Histories& before_;
  const Histories& later_;
  const Catalogue& catalogue_;
  const std::int64_t least_;
  PrepareCounts& counts_;
  std::vector<std::int32_t> last_with_;  // per item: the last user added that has it before the cut
  std::vector<std::int32_t> users_;
  std::vector<RowEntry> targets_;
  std::vector<std::size_t> ends_;
};

/// The users of one stretch. Those with a history come in the order of its first rows, so that no later row
/// moves them.
HeldOut held_out_part(const Interactions& log, const Stretches& stretches, Stretch part,
                      const Catalogue& catalogue, const Filters& filters, PrepareCounts& counts,
                      const Execution& execution) {
  const auto earlier = static_cast<Stretch>(static_cast<int>(part) - 1);
  const SomeRows before = rows_of(log, stretches, Stretch::training, earlier);
  const SomeRows later = rows_of(log, stretches, part, part);
  const Histories histories = group_by_user(before.log, execution);
  const Histories found = group_by_user(later.log, execution);
  counts.duplicates += found.duplicates;
  HoldOut hold_out(histories, found, catalogue, std::max<std::int64_t>(1, filters.min_user_items), counts);
  for (std::int64_t u = 0; u < before.log.users.size(); ++u) {
    const std::int32_t number = later.number[before.in_whole[u]];
    if (number != no_user) hold_out.add(static_cast<std::int32_t>(u), number);
  }
  for (std::int64_t u = 0; u < later.log.users.size(); ++u) {
    if (before.number[later.in_whole[u]] == no_user) hold_out.add(no_user, static_cast<std::int32_t>(u));
  }
  return hold_out.take(before.log, execution);
}

std::int64_t unknown_items(const Interactions& log, const Stretches& stretches, const Catalogue& catalogue) {
  std::vector<bool> seen(log.items.size(), false);
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    const std::int32_t item = log.item[r];
    const bool held_out = stretches[r] == Stretch::validation || stretches[r] == Stretch::test;
    if (!held_out || seen[item] || catalogue.number[item] != Catalogue::outside) continue;
    seen[item] = true;
    ++count;
  }
  return count;
}

Dataset split_by(const Interactions& log, const Stretches& stretches, bool validation, SplitKind split,
                 const Filters& filters, const Execution& execution) {
  Dataset dataset =
      split_none(rows_of(log, stretches, Stretch::training, Stretch::training).log, filters, execution);
  dataset.split = split;
  PrepareCounts& counts = dataset.counts;
  counts.empty_ids = log.empty_ids;
  counts.below_threshold = log.below_threshold;
  counts.skipped_lines = log.skipped_lines;
  counts.after_test = std::ranges::count(stretches, Stretch::behind);
  const Catalogue catalogue = catalogue_of(log, dataset.items);
  counts.unknown_items = unknown_items(log, stretches, catalogue);
  const auto part = [&](Stretch which) {
    return held_out_part(log, stretches, which, catalogue, filters, counts, execution);
  };
  if (validation) dataset.validation = part(Stretch::validation);
  dataset.test = part(Stretch::test);
  return dataset;
}

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
