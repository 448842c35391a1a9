#include "poise/data/histories.hpp"

#include <gtest/gtest.h>

#include "data/log_of.hpp"
#include "support/expect_error.hpp"

namespace poise {
namespace {

using testing::log_of;

TEST(GroupByUser, MergesRepeatsWhereTheyFirstStood) {
  const Interactions log =
      log_of({{"a", "x", 1}, {"b", "y", 2}, {"a", "y", 3}, {"a", "x", 4}, {"a", "z", 5}, {"a", "y", 0.5F}});
  for (const int threads : {1, 3}) {
    const Histories histories = group_by_user(log, {.threads = threads});
    EXPECT_EQ(histories.duplicates, 2);
    const auto items = histories.user(0);
    EXPECT_EQ(std::vector<std::int32_t>(items.begin(), items.end()), (std::vector<std::int32_t>{0, 1, 2}));
    EXPECT_EQ(histories.value[histories.first[0]], 5);
    EXPECT_EQ(histories.value[histories.first[0] + 1], 3.5F);
    EXPECT_EQ(histories.value[histories.first[1]], 2);
    EXPECT_EQ(histories.user(1).size(), 1U);
  }
}

TEST(GroupByUser, AddsManyValuesWithoutLosingThem) {
  std::vector<testing::LogRow> rows(20'000, {"a", "x", 0.1F});
  rows.push_back({"a", "y", 16'777'216.0F});
  rows.insert(rows.end(), 1000, {"a", "y", 1.0F});  // in float each of these would be lost
  const Histories histories = group_by_user(log_of(rows), {});
  EXPECT_FLOAT_EQ(histories.value[0], 2000.0F);
  EXPECT_EQ(histories.value[1], 16'778'216.0F);
}

TEST(GroupByUser, RefusesSumsBeyondFloat) {
  const Interactions log = log_of({{"a", "x", 1}, {"b", "y", 3e38F}, {"b", "z", 1}, {"b", "y", 3e38F}});
  const std::string message =
      testing::error_message(ErrorKind::input, [&] { group_by_user(log, {.threads = 2}); });
  EXPECT_NE(message.find("user 'b' and item 'y'"), std::string::npos) << message;
}

TEST(GroupByUser, MergesAlikeInEveryTile) {
  Interactions log;
  for (int u = 0; u < 10'000; ++u) log.users.push_back(std::to_string(u));
  for (int i = 0; i < 7; ++i) log.items.push_back(std::to_string(i));
  for (int u = 0; u < 10'000; ++u) {
    for (int k = 0; k < 5; ++k) {
      log.user.push_back(u);
      log.item.push_back((u + k * k) % 7);  // the squares 0, 1, 4, 2, 2: one repeat each
    }
  }
  for (const int threads : {1, 3}) {
    const Histories histories = group_by_user(log, {.threads = threads});
    EXPECT_EQ(histories.duplicates, 10'000);
    for (std::int64_t u = 0; u < histories.users(); ++u) ASSERT_EQ(histories.user(u).size(), 4U) << u;
  }
}

TEST(ApplyFilters, DropUsersLeftWithNothing) {
  const Interactions log = log_of({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  const Histories histories = group_by_user(log, {});
  for (const bool k_core : {false, true}) {
    const Kept kept = apply_filters(histories, {.min_item_users = 2, .k_core = k_core});
    EXPECT_EQ(kept.users, (std::vector<bool>{true, true, false}));
    EXPECT_EQ(kept.items, (std::vector<bool>{true, false}));
  }
}

TEST(ApplyFilters, ItemsOnceThenUsersOnce) {
  // x has 3 users, y 2, z 1; without z user c keeps one item and goes; then y has one user left, and stays.
  const Interactions log = log_of(
      {{"a", "x"}, {"a", "y"}, {"b", "x"}, {"c", "y"}, {"c", "z"}, {"b", "w"}, {"d", "w"}, {"d", "x"}});
  const Histories histories = group_by_user(log, {});
  const Kept kept = apply_filters(histories, {.min_user_items = 2, .min_item_users = 2});
  EXPECT_EQ(kept.items, (std::vector<bool>{true, true, false, true}));
  EXPECT_EQ(kept.users, (std::vector<bool>{true, true, false, true}));
  const Kept core = apply_filters(histories, {.min_user_items = 2, .min_item_users = 2, .k_core = true});
  EXPECT_EQ(core.items, (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(core.users, (std::vector<bool>{false, true, false, true}));
}

TEST(ApplyFilters, CountsMergedPairsOnce) {
  const Histories histories =
      group_by_user(log_of({{"a", "x"}, {"a", "x"}, {"a", "x"}, {"b", "x"}, {"b", "y"}}), {});
  EXPECT_EQ(apply_filters(histories, {.min_user_items = 2}).users, (std::vector<bool>{false, true}));
  EXPECT_EQ(apply_filters(histories, {.min_item_users = 2}).items, (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace poise
