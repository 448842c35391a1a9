#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/data/dataset_file.hpp"
#include "poise/data/split.hpp"

#include "data/log_of.hpp"
#include "support/expect_error.hpp"

namespace poise {
namespace {

using testing::error_message;
using testing::expect_error;
using ::testing::HasSubstr;

struct Event {
  std::string user;
  std::string item;
  std::int64_t time;
  float value = 1;
  bool operator==(const Event&) const = default;
};
using Events = std::vector<Event>;

Interactions log_in_time(const Events& events) {
  std::vector<testing::LogRow> rows;
  for (const Event& event : events) rows.push_back({event.user, event.item, event.value});
  Interactions log = testing::log_of(rows);
  for (const Event& event : events) log.time.push_back(event.time);
  return log;
}

constexpr Filters no_filters = {.min_user_items = 0};

TimeSplit from(std::int64_t test, std::optional<std::int64_t> validation = {}) {
  TimeSplit split{.test_from = {.time = test}};
  if (validation) split.validation_from = CutPlace{.time = validation};
  return split;
}

/// The entries of a matrix as "user item value".
std::set<std::string> entries(const Dataset& dataset, const Ids& users, const Csr& matrix) {
  std::set<std::string> found;
  const CsrView view = matrix.view();
  for (std::int64_t u = 0; u < matrix.rows; ++u)
    for (std::int64_t k = 0; k < view.row_size(u); ++k)
      found.insert(fmt::format("{} {} {}", users[u], dataset.items[view.row(u)[k]], view.row_values(u)[k]));
  return found;
}
std::set<std::string> trained(const Dataset& dataset) {
  return entries(dataset, dataset.users, dataset.train);
}
std::set<std::string> fold_in(const Dataset& dataset, const HeldOut& part) {
  return entries(dataset, part.users, part.fold_in);
}
std::set<std::string> targets(const Dataset& dataset, const HeldOut& part) {
  return entries(dataset, part.users, part.targets);
}

std::vector<std::string> texts(const Ids& ids) {
  std::vector<std::string> all;
  for (std::int64_t k = 0; k < ids.size(); ++k) all.emplace_back(ids[k]);
  return all;
}

/// 3000 rows of 60 users and 40 items, at the times 0 to 999; in any order, with repeats and equal times.
Events random_events(unsigned seed) {
  std::mt19937 random(seed);
  Events events;
  for (int k = 0; k < 3000; ++k)
    events.push_back({fmt::format("u{}", random() % 60), fmt::format("i{}", (random() % 7) * (random() % 7)),
                      static_cast<std::int64_t>(random() % 1000), static_cast<float>(1 + random() % 5)});
  return events;
}

TEST(SplitTime, SmallExample) {
  const Events events = {{"ann", "tea", 9, 8},  // after the cut, though first in the log
                         {"bob", "cup", 1, 1}, {"ann", "tea", 2, 2}, {"ann", "pot", 3, 4},
                         {"bob", "pot", 5, 1},  // at the cut: after it
                         {"ann", "tea", 1, 1}, {"ann", "cup", 7, 1}, {"ann", "jar", 7, 1},
                         {"eve", "cup", 6, 1}, {"bob", "pot", 8, 2}};
  const Dataset dataset = split_time(log_in_time(events), no_filters, from(5), {});
  EXPECT_EQ(dataset.split, SplitKind::time);
  EXPECT_EQ(texts(dataset.items), (std::vector<std::string>{"cup", "tea", "pot"}));
  EXPECT_EQ(texts(dataset.users), (std::vector<std::string>{"bob", "ann"}));
  EXPECT_EQ(trained(dataset), (std::set<std::string>{"bob cup 1", "ann tea 3", "ann pot 4"}));
  EXPECT_FALSE(dataset.validation);
  EXPECT_EQ(texts(dataset.test->users), (std::vector<std::string>{"bob", "ann"}));
  EXPECT_EQ(fold_in(dataset, *dataset.test), trained(dataset));
  EXPECT_EQ(targets(dataset, *dataset.test), (std::set<std::string>{"bob pot 3", "ann cup 1"}));
  EXPECT_EQ(dataset.counts.unknown_users, 1);
  EXPECT_EQ(dataset.counts.unknown_interactions, 1);
  EXPECT_EQ(dataset.counts.unknown_items, 1);
  EXPECT_EQ(dataset.counts.outside_catalogue, 1);
  EXPECT_EQ(dataset.counts.repeats, 1);
  EXPECT_EQ(dataset.counts.duplicates, 2);
  EXPECT_EQ(dataset.cuts, (TimeCuts{.validation = {}, .test = 5, .end = {}}));
}

TEST(SplitTime, TestHistoriesHaveTheValidationStretch) {
  const Events events = {{"ann", "tea", 1}, {"ann", "cup", 2}, {"bob", "cup", 2},
                         {"bob", "tea", 5}, {"eve", "tea", 5}, {"ann", "tea", 6, 4},
                         {"eve", "cup", 8}, {"bob", "cup", 9}, {"ann", "pot", 9}};
  const Dataset dataset = split_time(log_in_time(events), no_filters, from(8, 5), {});
  EXPECT_EQ(trained(dataset), (std::set<std::string>{"ann tea 1", "ann cup 1", "bob cup 1"}));
  EXPECT_EQ(texts(dataset.validation->users), (std::vector<std::string>{"ann", "bob"}));
  EXPECT_EQ(fold_in(dataset, *dataset.validation), trained(dataset));
  EXPECT_EQ(targets(dataset, *dataset.validation), (std::set<std::string>{"bob tea 1"}));
  // Eve's history begins after the training rows, and she is scored by it.
  EXPECT_EQ(texts(dataset.test->users), (std::vector<std::string>{"ann", "bob", "eve"}));
  EXPECT_EQ(fold_in(dataset, *dataset.test),
            (std::set<std::string>{"ann tea 5", "ann cup 1", "bob cup 1", "bob tea 1", "eve tea 1"}));
  EXPECT_EQ(targets(dataset, *dataset.test), (std::set<std::string>{"eve cup 1"}));
  EXPECT_EQ(dataset.counts.repeats, 2);
}

/// Every row is training, a duplicate, dropped for a reason, or a target.
void expect_rows_add_up(const Dataset& dataset, std::int64_t rows) {
  const PrepareCounts& counts = dataset.counts;
  std::int64_t sum = dataset.train.entries() + counts.duplicates + counts.filtered_interactions +
                     counts.unknown_interactions + counts.repeats + counts.outside_catalogue +
                     counts.after_test;
  for (const auto* part : {&dataset.validation, &dataset.test}) sum += *part ? (*part)->targets.entries() : 0;
  EXPECT_EQ(sum, rows);
}

TEST(SplitTime, RowsAddUp) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Interactions log = log_in_time(random_events(seed));
    const Filters filters{
        .min_user_items = seed % 7, .min_item_users = seed % 5 * 2, .k_core = seed % 2 == 1};
    TimeSplit split = from(300 + 20 * seed, 200);
    if (seed % 3 == 0) split.test_to = 900;
    expect_rows_add_up(split_time(log, filters, split, {}), log.rows());
    expect_rows_add_up(split_last(log, filters, 1 + seed % 3, {}), log.rows());
  }
}

/// Everything that later rows must not change.
struct Past {
  Ids items;
  Ids users;
  Csr train;
  bool operator==(const Past&) const = default;
};
Past past_of(const Dataset& dataset) { return {dataset.items, dataset.users, dataset.train}; }

/// Other logs that agree with this one before the cut.
std::map<std::string, Events> other_futures(const Events& events, std::int64_t cut, unsigned seed) {
  std::mt19937 random(seed);
  const auto is_later = [&](const Event& event) { return event.time >= cut; };
  std::map<std::string, Events> futures;
  Events& one_left = futures["all but one later row removed"];
  for (const Event& event : events) {
    if (!is_later(event) || std::ranges::none_of(one_left, is_later)) one_left.push_back(event);
  }
  Events& values = futures["other values, users and items"] = events;
  for (Event& event : values) {
    if (is_later(event))
      event = {fmt::format("u{}", random() % 200), fmt::format("i{}", random() % 200), event.time, 1e6F};
  }
  Events& front = futures["later rows first, shuffled and at other times"] = events;
  std::stable_partition(front.begin(), front.end(), is_later);
  const auto end = std::ranges::find_if_not(front, is_later);
  std::shuffle(front.begin(), end, random);
  for (auto event = front.begin(); event != end; ++event)
    event->time = cut + static_cast<std::int64_t>(random() % 1'000'000);
  Events& more = futures["many more later rows"] = events;
  for (int k = 0; k < 5000; ++k)
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(random() % more.size()),
                {fmt::format("u{}", random() % 60), "hit", cut + k, 9});
  return futures;
}

TEST(SplitTime, NoRowAfterTheCutChangesWhatIsTrained) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const Events events = random_events(seed);
    const Filters filters{.min_user_items = 5, .min_item_users = 30, .k_core = seed % 2 == 0};
    const TimeSplit split{.test_from = {.time = 600}, .validation_from = CutPlace{.share = 0.2}};
    const Dataset dataset = split_time(log_in_time(events), filters, split, {});
    ASSERT_GT(dataset.counts.filtered_interactions, 0);
    ASSERT_GT(dataset.test->targets.entries(), 100);
    for (const auto& [what, other] : other_futures(events, 600, seed)) {
      const Dataset again = split_time(log_in_time(other), filters, split, {});
      EXPECT_EQ(past_of(again), past_of(dataset)) << what;
      EXPECT_EQ(again.validation, dataset.validation) << what;
      // Within the test part neither order nor time matters, nor do items that are unknown.
      const bool same_targets = what.starts_with("later rows first") || what.starts_with("many more");
      EXPECT_EQ(again.test == dataset.test, same_targets) << what;
    }
    // Nor do rows of the validation stretch change what is trained.
    for (const auto& [what, other] : other_futures(events, *dataset.cuts->validation, seed + 100)) {
      TimeSplit fixed = split;
      fixed.validation_from = CutPlace{.time = dataset.cuts->validation};
      Events with_test = other;
      with_test.push_back({"u1", "i4", 600});
      with_test.push_back({"u1", "i4", 599});
      EXPECT_EQ(past_of(split_time(log_in_time(with_test), filters, fixed, {})), past_of(dataset)) << what;
    }
  }
}

TEST(SplitTime, TargetsAreNewAndHistoriesComeBefore) {
  const Events events = random_events(7);
  const Dataset dataset = split_time(log_in_time(events), no_filters, from(700, 500), {});
  std::map<std::pair<std::string, std::string>, std::int64_t> first;
  for (const Event& event : events) {
    const auto [at, added] = first.emplace(std::pair(event.user, event.item), event.time);
    if (!added) at->second = std::min(at->second, event.time);
  }
  const auto check = [&](const HeldOut& part, const Csr& matrix, std::int64_t begin, std::int64_t end) {
    for (std::int64_t u = 0; u < matrix.rows; ++u) {
      for (const std::int32_t item : matrix.view().row(u)) {
        const std::int64_t time = first.at({std::string(part.users[u]), std::string(dataset.items[item])});
        EXPECT_TRUE(time >= begin && time < end);
      }
    }
  };
  check(*dataset.validation, dataset.validation->fold_in, 0, 500);
  check(*dataset.validation, dataset.validation->targets, 500, 700);
  check(*dataset.test, dataset.test->fold_in, 0, 700);
  check(*dataset.test, dataset.test->targets, 700, 1000);
}

TEST(SplitTime, SharesAreOfTheLatestRowsAndTiesGoToTheTest) {
  Events events;
  for (int k = 0; k < 100; ++k)
    events.push_back({fmt::format("u{}", k % 5), fmt::format("i{}", k), k < 50 ? k : 50 + k / 10});
  const auto cut = [&](double share) {
    return split_time(log_in_time(events), no_filters, {.test_from = {.share = share}}, {}).cuts->test;
  };
  EXPECT_EQ(cut(0.1), 59);
  EXPECT_EQ(cut(0.11), 58);
  EXPECT_EQ(cut(0.001), 59);
  EXPECT_EQ(cut(0.6), 40);
  const TimeSplit both{.test_from = {.share = 0.1}, .validation_from = CutPlace{.share = 0.1}};
  const Dataset dataset = split_time(log_in_time(events), no_filters, both, {});
  EXPECT_EQ(dataset.cuts->validation, 58);  // 9 of 90 rows are 81 to 89, and row 80 has the same time
}

TEST(SplitTime, FiltersCountRowsBeforeTheCut) {
  Events events;
  for (int k = 0; k < 5; ++k) events.push_back({"old", fmt::format("i{}", k), k});
  for (int k = 0; k < 4; ++k) events.push_back({"new", fmt::format("i{}", k), k});
  events.push_back({"new", "i4", 10});
  events.push_back({"old", "i9", 10});
  const Dataset dataset = split_time(log_in_time(events), {.min_user_items = 5}, from(10), {});
  EXPECT_EQ(texts(dataset.users), std::vector<std::string>{"old"});
  EXPECT_EQ(texts(dataset.test->users), std::vector<std::string>{"old"});
  EXPECT_EQ(dataset.counts.unknown_users, 1);
  EXPECT_EQ(dataset.counts.filtered_users, 1);
}

TEST(SplitTime, CutsThatLeaveAPartWithoutRowsAreErrors) {
  const Interactions log = log_in_time({{"a", "x", 0}, {"a", "y", 10'000'000}, {"b", "x", 20'000'000}});
  const auto fails = [&](const TimeSplit& split, const std::string& part) {
    expect_error(ErrorKind::usage, part, [&] { split_time(log, no_filters, split, {}); });
  };
  constexpr std::int64_t second = 1'000'000;
  fails(from(21 * second), "no row of the log is at or after test-from");
  fails(from(0), "no row of the log is before");
  fails(from(20 * second, 20 * second), "is not before");
  fails(from(20 * second, 11 * second), "no row of the log is from");
  fails(from(20 * second, 0), "nothing to train on");
  fails({.test_from = {.share = 1.5}}, "choose one above 0 and below 1");
  fails({.test_from = {.time = 15 * second}, .test_to = 16 * second},
        "no row of the test part is at or after");
  fails({.test_from = {.time = 15 * second}, .test_to = 15 * second}, "is not before");
  fails({.test_from = {.time = 15 * second}, .test_to = 0}, "no row of the log is before");
  const Interactions same = log_in_time({{"a", "x", 5}, {"b", "x", 5}});
  expect_error(ErrorKind::usage, "no row of the log is before",
               [&] { split_time(same, no_filters, {.test_from = {.share = 0.5}}, {}); });
  Interactions timeless = log;
  timeless.time.clear();
  expect_error(ErrorKind::usage, "has no times", [&] { split_time(timeless, no_filters, from(1), {}); });
  expect_error(ErrorKind::usage, "has no times", [&] { split_last(timeless, no_filters, 1, {}); });
  expect_error(ErrorKind::input, "no row of the log is left",
               [&] { split_time({}, no_filters, from(1), {}); });
}

TEST(SplitTime, UsersWithOnlyLaterRowsAreCountedAlone) {
  const Dataset dataset = split_time(
      log_in_time({{"a", "x", 0}, {"b", "x", 5}, {"b", "y", 6}, {"c", "x", 7}}), no_filters, from(5), {});
  EXPECT_EQ(dataset.test->users.size(), 0);
  EXPECT_EQ(dataset.counts.unknown_users, 2);
  EXPECT_EQ(dataset.counts.unknown_interactions, 3);
  validate(dataset);
}

TEST(SplitTime, SameBytesAtAnyThreadCount) {
  const Interactions log = log_in_time(random_events(3));
  const auto bytes = [&](int threads) {
    const Execution execution{.threads = threads};
    const TimeSplit split{.test_from = {.share = 0.2}, .validation_from = CutPlace{.share = 0.2}};
    return std::pair(encode_dataset(split_time(log, {.min_user_items = 3}, split, execution), execution),
                     encode_dataset(split_last(log, {.min_user_items = 3}, 2, execution), execution));
  };
  const auto one = bytes(1);
  EXPECT_EQ(bytes(2), one);
  EXPECT_EQ(bytes(7), one);
}

TEST(SplitLast, SmallExample) {
  // In the order of time: ann has cup, tea, (cup), pot, jar, (tea) and bob too few items.
  const Events events = {{"ann", "jar", 5, 1}, {"ann", "tea", 2, 2}, {"ann", "cup", 1, 1},
                         {"ann", "pot", 4, 1}, {"ann", "cup", 3, 4}, {"ann", "tea", 6, 8},
                         {"bob", "jar", 1, 1}, {"bob", "pot", 2, 1}};
  const Dataset dataset = split_last(log_in_time(events), no_filters, 1, {});
  EXPECT_EQ(dataset.split, SplitKind::last);
  EXPECT_EQ(trained(dataset), (std::set<std::string>{"ann cup 5", "ann tea 2", "bob jar 1", "bob pot 1"}));
  EXPECT_EQ(targets(dataset, *dataset.validation), std::set<std::string>{"ann pot 1"});
  EXPECT_EQ(targets(dataset, *dataset.test), std::set<std::string>{"ann jar 1"});
  EXPECT_EQ(fold_in(dataset, *dataset.validation), (std::set<std::string>{"ann cup 5", "ann tea 2"}));
  EXPECT_EQ(fold_in(dataset, *dataset.test), (std::set<std::string>{"ann cup 5", "ann tea 2", "ann pot 1"}));
  EXPECT_EQ(dataset.counts.repeats, 1);
  EXPECT_FALSE(dataset.cuts);
}

TEST(SplitLast, EqualTimesAreInTheOrderOfTheLog) {
  Events events;
  for (const char* item : {"d", "b", "e", "a", "c"}) {
    events.push_back({"u", item, 7});
    events.push_back({"w", item, 1});
    events.push_back({"w", "only", 1});
  }
  const Dataset dataset = split_last(log_in_time(events), no_filters, 2, {});
  EXPECT_EQ(targets(dataset, *dataset.test),
            (std::set<std::string>{}));  // a and c are in nobody's training rows
  EXPECT_EQ(trained(dataset), (std::set<std::string>{"u d 1", "w d 1", "w only 1"}));
  EXPECT_EQ(dataset.counts.outside_catalogue, 8);
}

TEST(SplitLast, TheLastItemsOfEachUser) {
  const Events events = random_events(11);
  std::map<std::string, std::vector<std::pair<std::int64_t, std::string>>> came;  // each user's items by time
  Events sorted = events;
  std::ranges::stable_sort(sorted, {}, &Event::time);
  for (const Event& event : sorted) {
    auto& items = came[event.user];
    if (std::ranges::none_of(items, [&](const auto& item) { return item.second == event.item; }))
      items.emplace_back(event.time, event.item);
  }
  const Dataset dataset = split_last(log_in_time(events), no_filters, 3, {});
  EXPECT_EQ(dataset.test->users.size(), 60);
  const auto expect_items = [&](const HeldOut& part, const Csr& matrix, std::size_t from_end,
                                std::size_t count) {
    for (std::int64_t u = 0; u < matrix.rows; ++u) {
      const auto& items = came.at(std::string(part.users[u]));
      std::set<std::string> expected;
      const std::size_t first = items.size() - from_end;
      for (std::size_t k = first; k < first + count; ++k) {
        const auto all = texts(dataset.items);
        if (std::ranges::find(all, items[k].second) != all.end()) expected.insert(items[k].second);
      }
      std::set<std::string> found;
      for (const std::int32_t item : matrix.view().row(u)) found.emplace(dataset.items[item]);
      EXPECT_EQ(found, expected) << part.users[u];
    }
  };
  expect_items(*dataset.test, dataset.test->targets, 3, 3);
  expect_items(*dataset.validation, dataset.validation->targets, 6, 3);
}

TEST(SplitLast, Errors) {
  const Interactions log = log_in_time({{"a", "x", 0}, {"a", "y", 1}});
  expect_error(ErrorKind::usage, "no user has more than 2 items",
               [&] { split_last(log, no_filters, 1, {}); });
  expect_error(ErrorKind::usage, "choose at least 1", [&] { split_last(log, no_filters, 0, {}); });
}

TEST(SplitTime, CutsAsTexts) {
  EXPECT_EQ(parse_cut("10%").share, 0.1);
  EXPECT_EQ(parse_cut("2.5%").share, 0.025);
  EXPECT_EQ(parse_cut("1970-01-02").time, 86'400'000'000);
  EXPECT_EQ(parse_cut("5").time, 5'000'000);
  EXPECT_EQ(parse_cut("2011", TimeUnit::milliseconds).time, 2'011'000);
  for (const char* text : {"0%", "100%", "-3%", "%", "x%", "nan%", "soon", "", "1/2/2011", "0.1", "2011"})
    EXPECT_THAT(error_message(ErrorKind::usage, [&] { parse_cut(text); }), HasSubstr(text)) << text;
  EXPECT_THAT(error_message(ErrorKind::usage, [] { parse_cut("0.1"); }), HasSubstr("10%"));
}

TEST(SplitTime, FilesKeepTheCuts) {
  const Interactions log = log_in_time(random_events(5));
  for (const Dataset& dataset :
       {split_time(log, no_filters, {.test_from = {.time = 700}, .test_to = 900}, {}),
        split_time(log, no_filters, from(700, 600), {}), split_last(log, no_filters, 1, {})}) {
    const auto bytes = encode_dataset(dataset, {});
    EXPECT_EQ(decode_dataset(Container::parse(bytes, "file"), {}), dataset);
  }
  Events early;
  for (Event event : random_events(6)) {
    event.time -= std::int64_t{1} << 62;
    early.push_back(event);
  }
  const Dataset dataset = split_time(log_in_time(early), no_filters, from(500 - (std::int64_t{1} << 62)), {});
  EXPECT_EQ(decode_dataset(Container::parse(encode_dataset(dataset, {}), "file"), {}), dataset);
}

}  // namespace
}  // namespace poise
