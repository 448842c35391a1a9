#include "poise/data/merge.hpp"

#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poise/data/split.hpp"

#include "data/log_of.hpp"
#include "support/expect_error.hpp"
#include "support/random_dataset.hpp"

namespace poise {
namespace {

using testing::log_of;
using testing::LogRow;
using testing::random_dataset;

using TrainingPairs = std::map<std::pair<std::string, std::string>, float>;

TrainingPairs training_pairs(const Dataset& data) {
  TrainingPairs pairs;
  const CsrView rows = data.train.view();
  for (std::int64_t u = 0; u < rows.rows; ++u) {
    for (std::int64_t k = 0; k < rows.row_size(u); ++k)
      pairs[{std::string(data.users[u]), std::string(data.items[rows.row(u)[k]])}] =
          rows.values.empty() ? 1.0F : rows.row_values(u)[k];
  }
  return pairs;
}

TEST(MergeTest, AddsRemovesAndNumbers) {
  const Dataset data =
      split_none(log_of({{"a", "x", 1}, {"a", "y", 2}, {"b", "x", 3}, {"c", "y", 4}, {"c", "z", 5}}), {}, {});
  const Interactions log = log_of(
      {{"d", "new2", 1}, {"b", "x", 2}, {"a", "new1", 7}, {"d", "x", 1}, {"d", "x", 1}, {"c", "z", 9}});
  const Interactions removed = log_of({{"c", "z"}, {"c", "y"}, {"a", "z"}, {"a", "unknown"}});
  const Merged merged = merge(data, &log, &removed, {});
  EXPECT_EQ(training_pairs(merged.dataset), (TrainingPairs{{{"a", "x"}, 1},
                                                           {{"a", "y"}, 2},
                                                           {{"a", "new1"}, 7},
                                                           {{"b", "x"}, 5},
                                                           {{"c", "z"}, 9},
                                                           {{"d", "new2"}, 1},
                                                           {{"d", "x"}, 2}}));
  EXPECT_EQ(merged.changed, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(merged.dataset.items.size(), 5);
  EXPECT_EQ(merged.dataset.items[3], "new2");  // by first row, behind the others
  EXPECT_EQ(merged.dataset.items[4], "new1");
  EXPECT_EQ(merged.dataset.users[3], "d");
  const MergeCounts& counts = merged.counts;
  EXPECT_EQ(counts.log_rows, 6);
  EXPECT_EQ(counts.added, 4);  // z of c was removed before
  EXPECT_EQ(counts.known, 1);
  EXPECT_EQ(counts.duplicates, 1);
  EXPECT_EQ(counts.removed, 2);
  EXPECT_EQ(counts.not_there, 2);
  EXPECT_EQ(counts.new_users, 1);
  EXPECT_EQ(counts.changed_users, 3);
  EXPECT_EQ(counts.new_items, 2);
  EXPECT_EQ(counts.held_out, 0);
}

TEST(MergeTest, WhatChangesNothingLeavesTheUserUnchanged) {
  const Dataset plain = split_none(log_of({{"a", "x"}, {"b", "x"}, {"b", "y"}}), {}, {});
  const Interactions log = log_of({{"a", "x", 5}, {"b", "y", 2}});
  const Merged merged = merge(plain, &log, nullptr, {});  // data without values ignore the log's
  EXPECT_TRUE(merged.changed.empty());
  EXPECT_EQ(merged.dataset.train, plain.train);
  EXPECT_EQ(merged.counts.known, 2);
}

TEST(MergeTest, AUserWithoutRowsStays) {
  const Dataset data = split_none(log_of({{"a", "x"}, {"b", "x"}, {"b", "y"}}), {}, {});
  const Interactions removed = log_of({{"b", "y"}, {"b", "x"}});
  const Merged merged = merge(data, nullptr, &removed, {});
  EXPECT_EQ(merged.dataset.users.size(), 2);
  EXPECT_EQ(merged.dataset.items.size(), 2);
  EXPECT_EQ(training_pairs(merged.dataset), (TrainingPairs{{{"a", "x"}, 1}}));
}

TEST(MergeTest, HeldOutPartsStay) {
  for (const SplitKind split : {SplitKind::users, SplitKind::given}) {
    SCOPED_TRACE(to_string(split));
    const Dataset data = random_dataset({.split = split, .values = true});
    std::vector<LogRow> rows;
    for (const Ids* ids : {&data.test->users, &data.users}) {
      for (std::int64_t u = 0; u < ids->size(); ++u) {
        for (std::int64_t i = 0; i < data.items.size(); ++i)
          rows.push_back({std::string((*ids)[u]), std::string(data.items[i]), 1.0F});
        rows.push_back({std::string((*ids)[u]), "an item that nobody had", 1.0F});
      }
    }
    const Interactions log = log_of(rows);
    const Merged merged = merge(data, &log, nullptr, {});
    EXPECT_GT(merged.counts.held_out, 0);
    for (const auto& [before, after] : {std::pair(&data.validation, &merged.dataset.validation),
                                        std::pair(&data.test, &merged.dataset.test)}) {
      for (std::int64_t u = 0; u < (*before)->users.size(); ++u) {
        std::int64_t row = 0;
        while ((*after)->users[row] != (*before)->users[u]) ++row;
        const auto old_targets = (*before)->targets.view().row(u);
        const auto targets = (*after)->targets.view().row(row);
        EXPECT_TRUE(std::ranges::equal(targets, old_targets));
        if (split == SplitKind::users) {
          EXPECT_TRUE(
              std::ranges::equal((*after)->fold_in.view().row(row), (*before)->fold_in.view().row(u)));
          continue;
        }
        const Ids& users = merged.dataset.users;
        for (std::int64_t k = 0; k < users.size(); ++k) {  // no target is trained on
          if (users[k] != (*before)->users[u]) continue;
          for (const std::int32_t target : old_targets)
            EXPECT_FALSE(
                std::ranges::binary_search(merged.dataset.train.view().row(k), target) &&
                (k >= data.users.size() || !std::ranges::binary_search(data.train.view().row(k), target)));
        }
      }
    }
  }
}

TEST(MergeTest, Refuses) {
  const Dataset valued = split_none(log_of({{"a", "x", 3e38F}, {"b", "x", 1}}), {}, {});
  const Interactions plain = log_of({{"a", "y"}});
  testing::expect_error(ErrorKind::input, "the log has none", [&] { merge(valued, &plain, nullptr, {}); });
  const Interactions large = log_of({{"a", "x", 3e38F}});
  testing::expect_error(ErrorKind::input, "more than a float holds",
                        [&] { merge(valued, &large, nullptr, {}); });
  const Interactions stranger = log_of({{"stranger", "x"}});
  testing::expect_error(ErrorKind::input, "'stranger' of the rows to remove is not in the data",
                        [&] { merge(valued, nullptr, &stranger, {}); });
}

}  // namespace
}  // namespace poise
