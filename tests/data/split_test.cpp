#include "poise/data/split.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/error.hpp"

#include "data/log_of.hpp"
#include "support/expect_error.hpp"

namespace poise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::log_of;
using testing::LogRow;
using ::testing::Not;

/// 40 users with 4 to 13 items each out of 30.
Interactions example_log() {
  std::vector<LogRow> rows;
  for (int u = 0; u < 40; ++u) {
    for (int k = 0; k < 4 + u % 10; ++k) {
      rows.push_back(
          {fmt::format("{}", (u * 7) % 40 + 1), fmt::format("item {}", (u * 3 + k * k) % 30), 1.0F + u});
    }
  }
  return log_of(rows);
}

ErrorKind kind_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::numerical;
}

using Pairs = std::set<std::pair<std::string, std::string>>;

void add_pairs(Pairs& pairs, const Ids& users, const Csr& matrix, const Ids& items) {
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    for (const std::int32_t item : matrix.view().row(u)) {
      EXPECT_TRUE(pairs.emplace(users[u], items[item]).second) << "a pair stands in two parts";
    }
  }
}

TEST(SplitUsers, PartsAreDisjointAndComplete) {
  const Interactions log = example_log();
  const Dataset data =
      split_users(log, {.min_user_items = 5}, {.held_out_users = 8, .target_share = 0.4, .seed = 3}, {});
  EXPECT_EQ(data.users.size(), 36 - 16);  // the 4 users with 4 items are dropped
  EXPECT_EQ(data.validation->users.size(), 8);
  EXPECT_EQ(data.test->users.size(), 8);
  Pairs pairs;
  add_pairs(pairs, data.users, data.train, data.items);
  for (const auto& part : {data.validation, data.test}) {
    add_pairs(pairs, part->users, part->fold_in, data.items);
    add_pairs(pairs, part->users, part->targets, data.items);
    for (std::int64_t u = 0; u < 8; ++u) {
      const auto all = part->fold_in.view().row_size(u) + part->targets.view().row_size(u);
      EXPECT_EQ(part->targets.view().row_size(u),
                all >= 5 ? static_cast<std::int64_t>(0.4 * static_cast<double>(all)) : 0);
    }
  }
  Pairs expected;
  std::map<std::string, int> sizes;
  for (std::int64_t r = 0; r < log.rows(); ++r)
    expected.emplace(log.users[log.user[r]], log.items[log.item[r]]);
  for (const auto& [user, item] : expected) ++sizes[user];
  std::erase_if(expected, [&](const auto& pair) { return sizes[pair.first] < 5; });
  EXPECT_EQ(static_cast<std::int64_t>(pairs.size()) + data.counts.outside_catalogue,
            static_cast<std::int64_t>(expected.size()));
  for (const auto& pair : pairs) EXPECT_TRUE(expected.contains(pair));
  EXPECT_EQ(data.counts.filtered_users, 4);
  EXPECT_EQ(data.counts.filtered_items, 0);
  EXPECT_EQ(data.counts.filtered_interactions, 4 * 4);
}

TEST(SplitUsers, ItemsAreNumberedByFirstTrainingRow) {
  const Interactions log = example_log();
  const Dataset data = split_users(log, {}, {.held_out_users = 15}, {});
  std::set<std::string> training;
  for (std::int64_t u = 0; u < data.users.size(); ++u) training.emplace(data.users[u]);
  std::vector<std::string> order;
  std::set<std::string> seen;
  for (std::int64_t r = 0; r < log.rows(); ++r) {
    const std::string item(log.items[log.item[r]]);
    if (training.contains(std::string(log.users[log.user[r]])) && seen.insert(item).second)
      order.push_back(item);
  }
  ASSERT_EQ(data.items.size(), static_cast<std::int64_t>(order.size()));
  for (std::int64_t i = 0; i < data.items.size(); ++i) EXPECT_EQ(data.items[i], order[i]);
}

TEST(SplitUsers, SameForAnyThreadCountAndOrderOfUsers) {
  const Interactions log = example_log();
  const Dataset one = split_users(log, {}, {}, {.threads = 1});
  EXPECT_EQ(one, split_users(log, {}, {}, {.threads = 5}));
  EXPECT_NE(one, split_users(log, {}, {.held_out_users = 4, .seed = 1}, {.threads = 1}));
  EXPECT_EQ(one.validation->users.size(), 4) << "a tenth by default";
}

TEST(SplitUsers, ValuesTravelWithTheirPairs) {
  const Interactions log = example_log();
  const Dataset data = split_users(log, {}, {}, {});
  std::map<std::string, float> value_of;
  for (std::int64_t r = 0; r < log.rows(); ++r) value_of[std::string(log.users[log.user[r]])] = log.value[r];
  for (std::int64_t u = 0; u < data.train.rows; ++u) {
    for (const float value : data.train.view().row_values(u)) {
      // A merged pair holds a multiple of its user's value.
      EXPECT_EQ(std::fmod(value, value_of[std::string(data.users[u])]), 0.0F);
    }
  }
}

TEST(SplitUsers, RefusesWhatCannotBeSplit) {
  const Interactions log = example_log();
  EXPECT_EQ(kind_of([&] { split_users(log, {}, {.held_out_users = 20}, {}); }), ErrorKind::usage);
  EXPECT_EQ(kind_of([&] { split_users(log, {}, {.held_out_users = 2'000'000'000}, {}); }), ErrorKind::usage);
  EXPECT_EQ(kind_of([&] { split_users(log, {.min_user_items = 100}, {}, {}); }), ErrorKind::input);
  EXPECT_EQ(kind_of([&] { split_users(log_of({{"a", "x"}}), {}, {}, {}); }), ErrorKind::input);
  EXPECT_EQ(kind_of([&] { split_users(log_of({{"a", "x"}, {"b", "x"}}), {}, {}, {}); }), ErrorKind::input);
  EXPECT_NO_THROW(split_users(log, {}, {.held_out_users = 19}, {}));
}

TEST(SplitUsers, RefusesSharesOutOfRange) {
  for (const double share : {-0.1, 0.0, 1.0, 1.1, std::nan("")}) {
    EXPECT_EQ(
        kind_of([&] { split_users(example_log(), {}, {.held_out_users = 4, .target_share = share}, {}); }),
        ErrorKind::usage);
  }
  EXPECT_NO_THROW(split_users(example_log(), {}, {.held_out_users = 4, .target_share = 0.99}, {}));
}

TEST(SplitNone, SaysWhyNoUserIsLeft) {
  const auto message = [](const Interactions& log, const Filters& filters) {
    return testing::error_message(ErrorKind::input, [&] { split_none(log, filters, {}); });
  };
  EXPECT_THAT(message(example_log(), {.min_user_items = 100}), HasSubstr("min-user-items"));
  Interactions nothing;
  nothing.below_threshold = 7;
  EXPECT_THAT(message(nothing, {}), AllOf(HasSubstr("keep-above"), Not(HasSubstr("min-user-items"))));
  nothing.below_threshold = 0;
  nothing.empty_ids = 3;
  EXPECT_THAT(message(nothing, {}), AllOf(HasSubstr("3 rows have an empty"), Not(HasSubstr("--"))));
  const std::string given =
      testing::error_message(ErrorKind::input, [&] { split_given(nothing, {}, example_log(), {}); });
  EXPECT_THAT(given, Not(HasSubstr("filter")));
}

TEST(SplitNone, KeepsEverythingInFileOrder) {
  const Dataset data = split_none(log_of({{"b", "y"}, {"a", "x"}, {"b", "x"}, {"b", "y"}, {"c", "z"}}),
                                  {.min_user_items = 1}, {});
  EXPECT_EQ(data.users[0], "b");
  EXPECT_EQ(data.items[0], "y");
  EXPECT_EQ(data.train.indices, (std::vector<std::int32_t>{0, 1, 1, 2}));
  EXPECT_EQ(data.counts.duplicates, 1);
  EXPECT_FALSE(data.test || data.validation);
  EXPECT_EQ(data.counts.filtered_users + data.counts.filtered_items + data.counts.filtered_interactions, 0);
}

TEST(SplitNone, CountsWhatFiltersDrop) {
  // z and z2 have one user each and go; after that only b has two items.
  const Dataset data =
      split_none(log_of({{"b", "y"}, {"a", "x"}, {"b", "x"}, {"a", "z"}, {"d", "y"}, {"c", "z2"}}),
                 {.min_user_items = 2, .min_item_users = 2}, {});
  EXPECT_EQ(data.users.size(), 1);
  EXPECT_EQ(data.train.entries(), 2);
  EXPECT_EQ(data.counts.filtered_items, 2);
  EXPECT_EQ(data.counts.filtered_users, 3);
  EXPECT_EQ(data.counts.filtered_interactions, 4);
}

TEST(SplitGiven, TakesTheFilesAsTheyAre) {
  const Interactions train = log_of({{"a", "x"}, {"a", "y"}, {"b", "z"}, {"c", "x"}});
  const Interactions test =
      log_of({{"c", "y"}, {"d", "z"}, {"a", "unknown"}, {"c", "z"}, {"c", "y"}, {"a", "x"}});
  const Dataset data = split_given(train, std::nullopt, test, {});
  EXPECT_EQ(data.counts.outside_catalogue, 1);
  EXPECT_EQ(data.counts.duplicates, 1);
  EXPECT_EQ(data.train.rows, 3);
  ASSERT_TRUE(data.test);
  EXPECT_FALSE(data.validation);
  EXPECT_EQ(data.test->users.size(), 4);
  EXPECT_EQ(data.test->users[3], "d");
  EXPECT_EQ(data.test->targets.offsets, (std::vector<std::int64_t>{0, 1, 1, 3, 4}));
  EXPECT_EQ(data.test->targets.indices, (std::vector<std::int32_t>{0, 1, 2, 2}));
  const CsrView histories = data.histories(*data.test).items;
  EXPECT_EQ(histories.rows, 4);
  EXPECT_EQ(histories.row_size(0), 2);
  EXPECT_EQ(histories.row(2)[0], 0);
  EXPECT_EQ(histories.row_size(3), 0) << "a user without training data has an empty history";
}

}  // namespace
}  // namespace poise
