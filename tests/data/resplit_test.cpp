#include "poise/data/resplit.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/data/split.hpp"

#include "data/log_of.hpp"

namespace poise {
namespace {

using testing::log_of;
using testing::LogRow;

/// 60 users of 6 to 15 items out of 40, in an order that is not that of their items.
std::vector<LogRow> rows_to_split() {
  std::vector<LogRow> rows;
  for (int u = 0; u < 60; ++u) {
    for (int k = 0; k < 6 + u % 10; ++k)
      rows.push_back({fmt::format("u{}", (u * 7) % 60), fmt::format("i{}", (u * 11 + k * k * 3) % 40),
                      1.0F + static_cast<float>((u + k) % 7)});
  }
  return rows;
}

using Entry = std::tuple<std::string, std::string, float>;

void add_entries(std::multiset<Entry>& entries, const Ids& users, const Csr& matrix, const Ids& items) {
  const CsrView view = matrix.view();
  for (std::int64_t u = 0; u < view.rows; ++u) {
    for (std::int64_t k = 0; k < view.row_size(u); ++k)
      entries.emplace(users[u], items[view.row(u)[k]], view.values.empty() ? 1.0F : view.row_values(u)[k]);
  }
}

std::multiset<Entry> entries_of_parts(const Dataset& data) {
  std::multiset<Entry> entries;
  add_entries(entries, data.users, data.train, data.items);
  for (const auto& part : {data.validation, data.test}) {
    if (!part) continue;
    if (data.split != SplitKind::given) add_entries(entries, part->users, part->fold_in, data.items);
    add_entries(entries, part->users, part->targets, data.items);
  }
  return entries;
}

std::multiset<Entry> entries_of_log(const Interactions& log) {
  std::multiset<Entry> entries;
  for (std::int64_t r = 0; r < log.rows(); ++r)
    entries.emplace(log.users[log.user[r]], log.items[log.item[r]], log.value.empty() ? 1.0F : log.value[r]);
  return entries;
}

Dataset split_of_users(std::uint32_t seed, double share = 0.2) {
  return split_users(log_of(rows_to_split()), {}, {.held_out_users = 8, .target_share = share, .seed = seed},
                     {});
}

/// Every third of a user's rows for test, and every fourth of what is left for validation where there is one.
Dataset split_as_given(bool validation) {
  std::vector<LogRow> parts[3];
  std::map<std::string, int> seen;
  std::set<std::pair<std::string, std::string>> pairs;
  for (const LogRow& row : rows_to_split()) {
    if (!pairs.emplace(row.user, row.item).second) continue;
    const int k = seen[row.user]++;
    parts[k % 3 == 2 ? 2 : k % 4 == 3 && validation ? 1 : 0].push_back(row);
  }
  return split_given(log_of(parts[0]), validation ? std::optional(log_of(parts[1])) : std::nullopt,
                     log_of(parts[2]), {});
}

TEST(PooledLog, LosesAndInventsNothing) {
  for (const Dataset& data : {split_of_users(3), split_as_given(true), split_as_given(false)}) {
    const Interactions log = pooled_log(data);
    EXPECT_EQ(entries_of_log(log), entries_of_parts(data));
    EXPECT_FALSE(log.value.empty());
  }
}

TEST(PooledLog, HasNoValuesWhereTheDataHaveNone) {
  std::vector<LogRow> rows = rows_to_split();
  for (LogRow& row : rows) row.value.reset();
  EXPECT_TRUE(pooled_log(split_users(log_of(rows), {}, {}, {})).value.empty());
}

TEST(TargetShare, IsThatOfThePreparation) {
  for (const double share : {0.2, 0.5, 0.35, 0.9}) {
    const double found = target_share_of(split_of_users(1, share));
    // Histories of 6 to 15 items leave some room.
    for (int items = 6; items <= 15; ++items) EXPECT_EQ(int(found * items), int(share * items)) << share;
  }
  EXPECT_EQ(target_share_of(split_of_users(1, 0.2)), 0.2);
}

TEST(SplitAgain, KeepsProtocolAndSizes) {
  const Dataset data = split_of_users(98765, 0.5);
  const Dataset again = split_again(data, 1, "data", {});
  validate(again);
  EXPECT_EQ(again.split, SplitKind::users);
  EXPECT_EQ(again.users.size(), data.users.size());
  EXPECT_EQ(again.validation->users.size(), 8);
  EXPECT_EQ(again.test->users.size(), 8);
  const std::multiset<Entry> before = entries_of_parts(data);
  const std::multiset<Entry> after = entries_of_parts(again);
  EXPECT_EQ(after.size() + again.counts.outside_catalogue, before.size());
  EXPECT_TRUE(std::ranges::includes(before, after));
  for (std::int64_t u = 0; u < 8; ++u) {
    const auto targets = again.test->targets.view().row_size(u);
    const auto all = targets + again.test->fold_in.view().row_size(u);
    EXPECT_EQ(targets, all / 2);
  }
}

TEST(SplitAgain, SeedsDifferAndAreKeptByThreads) {
  const Dataset data = split_of_users(98765);
  const Dataset one = split_again(data, 1, "data", {.threads = 1});
  EXPECT_EQ(one, split_again(data, 1, "data", {.threads = 5}));
  EXPECT_NE(one, split_again(data, 2, "data", {}));
  EXPECT_NE(one.users, split_again(data, 2, "data", {}).users);
}

TEST(SplitAgain, DoesNotDependOnTheSplitBefore) {
  // A log whose users all have the same items, so that no catalogue loses any.
  std::vector<LogRow> rows;
  for (int u = 0; u < 30; ++u) {
    for (int i = 0; i < 12; ++i) rows.push_back({std::to_string(u), std::to_string(i), 1.0F + u});
  }
  const auto prepared = [&](std::uint32_t seed) {
    return split_users(log_of(rows), {}, {.held_out_users = 4, .seed = seed}, {});
  };
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    Dataset again = split_again(prepared(98765), seed, "data", {});
    EXPECT_EQ(again, prepared(seed)) << "rows in the order of items are split as prepare splits them";
  }
}

TEST(SplitAgain, ThePreparationsOwnSeedGivesTheDataAsTheyAre) {
  for (const std::uint32_t seed : {0U, 7U, 98765U}) {
    const Dataset data = split_of_users(seed);
    EXPECT_EQ(split_again(data, seed, "data", {}), data);
    EXPECT_NE(split_again(data, seed + 1, "data", {}), data);
  }
}

TEST(SplitAgain, OtherSizesForValidationAndTest) {
  Dataset data =
      split_users(log_of(rows_to_split()), {}, {.held_out_users = 10, .validation_users = 5, .seed = 4}, {});
  EXPECT_EQ(data.validation->users.size(), 5);
  EXPECT_EQ(data.test->users.size(), 10);
  EXPECT_EQ(data.users.size(), 45);
  const Dataset again = split_again(data, 5, "data", {});
  EXPECT_EQ(again.validation->users.size(), 5);
  EXPECT_EQ(again.test->users.size(), 10);
}

/// How many entries each user has in a part of a given split.
std::map<std::string, std::int64_t> sizes_of(const Ids& users, const Csr& matrix) {
  std::map<std::string, std::int64_t> sizes;
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    if (matrix.view().row_size(u) > 0) sizes[std::string(users[u])] = matrix.view().row_size(u);
  }
  return sizes;
}

TEST(SplitAgain, GivenSplitsKeepEachUsersSizes) {
  for (const bool validation : {true, false}) {
    const Dataset data = split_as_given(validation);
    const Dataset again = split_again(data, 1, "data", {});
    validate(again);
    EXPECT_EQ(again.split, SplitKind::given);
    EXPECT_EQ(again.validation.has_value(), validation);
    EXPECT_EQ(sizes_of(again.users, again.train), sizes_of(data.users, data.train));
    // Held-out rows of items without a training row are dropped.
    const std::multiset<Entry> before = entries_of_parts(data);
    const std::multiset<Entry> after = entries_of_parts(again);
    EXPECT_EQ(after.size() + again.counts.outside_catalogue, before.size());
    EXPECT_TRUE(std::ranges::includes(before, after));
    EXPECT_NE(again, data);
    EXPECT_NE(again, split_again(data, 2, "data", {}));
    EXPECT_EQ(again, split_again(data, 1, "data", {.threads = 3}));
  }
}

TEST(SplitAgain, GivenSplitsKeepUsersWithoutAHistory) {
  const Dataset data = split_given(log_of({{"a", "x"}, {"a", "y"}, {"a", "z"}, {"b", "x"}}), {},
                                   log_of({{"a", "w"}, {"b", "y"}, {"new", "x"}, {"new", "z"}}), {});
  const Dataset again = split_again(data, 3, "data", {});
  EXPECT_EQ(sizes_of(again.users, again.train).count("new"), 0);
  EXPECT_EQ(sizes_of(again.users, again.train), sizes_of(data.users, data.train));
}

TEST(SplitAgain, NeedsASplitThatCanBeDrawn) {
  const Dataset data = split_none(log_of(rows_to_split()), {}, {});
  EXPECT_THROW(split_again(data, 1, "shop.data", {}), Error);
  Dataset without_test = split_of_users(1);
  without_test.test.reset();
  EXPECT_THROW(split_again(without_test, 1, "shop.data", {}), Error);
}

}  // namespace
}  // namespace poise
