#include "poise/data/dataset.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/random_dataset.hpp"

namespace poise {
namespace {

using testing::error_message;
using testing::random_dataset;

TEST(Dataset, HistoriesAreTheFoldInOrTheTrainingRows) {
  const Dataset users = random_dataset({.values = true});
  const CsrView own = users.histories(*users.test).items;
  EXPECT_EQ(own.indices.data(), users.test->fold_in.indices.data());
  EXPECT_EQ(own.values.data(), users.test->fold_in.values.data());

  const Dataset given = random_dataset({.held_out_users = 2, .split = SplitKind::given, .values = true});
  const CsrView borrowed = given.histories(*given.test).items;
  ASSERT_EQ(borrowed.rows, given.train.rows + 2);
  EXPECT_EQ(borrowed.entries(), given.train.entries());
  for (std::int64_t r = 0; r < given.train.rows; ++r) {
    EXPECT_TRUE(std::ranges::equal(borrowed.row(r), given.train.view().row(r)));
    EXPECT_TRUE(std::ranges::equal(borrowed.row_values(r), given.train.view().row_values(r)));
  }
  EXPECT_EQ(borrowed.row_size(given.train.rows), 0);
  EXPECT_EQ(borrowed.row_size(given.train.rows + 1), 0);
}

TEST(Dataset, ConsistentDataIsValid) {
  for (const SplitKind split : {SplitKind::users, SplitKind::given, SplitKind::none})
    for (const bool values : {false, true}) validate(random_dataset({.split = split, .values = values}));
  validate(Dataset{});
}

TEST(Dataset, WhatDoesNotFitTogetherIsRefused) {
  using Change = std::function<void(Dataset&)>;
  const std::vector<Change> changes = {
      [](Dataset& d) { d.items.push_back("one more"); },
      [](Dataset& d) { d.users.push_back("one more"); },
      [](Dataset& d) { d.test->users.push_back("one more"); },
      [](Dataset& d) { d.train.cols += 1; },
      [](Dataset& d) { d.train.rows -= 1; },
      [](Dataset& d) { d.train.offsets.pop_back(); },
      [](Dataset& d) { d.train.offsets.front() = 1; },
      [](Dataset& d) { d.train.offsets.back() += 1; },
      [](Dataset& d) { d.train.offsets[1] = d.train.offsets.back() + 1; },
      [](Dataset& d) { d.train.indices.front() = -1; },
      [](Dataset& d) { d.train.indices.back() = static_cast<std::int32_t>(d.items.size()); },
      [](Dataset& d) { d.train.indices[1] = d.train.indices[0]; },
      [](Dataset& d) { std::swap(d.train.indices[1], d.train.indices[0]); },
      [](Dataset& d) { d.train.values.pop_back(); },
      [](Dataset& d) { d.train.values[2] = std::numeric_limits<float>::quiet_NaN(); },
      [](Dataset& d) { d.validation->targets.values[0] = std::numeric_limits<float>::infinity(); },
      [](Dataset& d) { d.validation->targets.indices.pop_back(); },
      [](Dataset& d) { d.test->fold_in.rows -= 1; },
      [](Dataset& d) {
        d.items = Ids("abc", {0, 2, 1, 3});
      },
      [](Dataset& d) { d.counts.duplicates = -1; },
      [](Dataset& d) { d.counts.repeats = -1; },
      [](Dataset& d) { d.cuts = TimeCuts{}; },
      [](Dataset& d) { d.split = SplitKind::time; },
  };
  for (const SplitKind split : {SplitKind::users, SplitKind::given}) {
    for (std::size_t k = 0; k < changes.size(); ++k) {
      SCOPED_TRACE(k);
      Dataset dataset = random_dataset({.density = 0.5, .split = split, .values = true});
      changes[k](dataset);
      error_message(ErrorKind::input, [&] { validate(dataset); });
    }
  }
}

TEST(Dataset, BorrowedRowsMustBeTheTrainingRows) {
  using Change = std::function<void(Dataset&)>;
  const std::vector<Change> changes = {
      [](Dataset& d) { d.test->fold_in.indices.push_back(0); },
      [](Dataset& d) { d.test->fold_in.offsets[1] += 1; },
      [](Dataset& d) { d.test->fold_in.offsets.back() += 1; },
      [](Dataset& d) {
        std::vector<std::int32_t> order(d.test->users.size());
        for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int32_t>(k);
        std::swap(order[0], order[1]);
        d.test->users = select(d.test->users, order);
      },
      [](Dataset& d) {
        d.test.emplace();
        d.test->fold_in.cols = d.test->targets.cols = d.train.cols;
      },
  };
  for (std::size_t k = 0; k < changes.size(); ++k) {
    SCOPED_TRACE(k);
    Dataset dataset = random_dataset({.density = 0.5, .split = SplitKind::given});
    changes[k](dataset);
    error_message(ErrorKind::input, [&] { validate(dataset); });
  }
}

TEST(Dataset, NamesItsSplits) {
  EXPECT_EQ(to_string(SplitKind::users), "users");
  EXPECT_EQ(to_string(SplitKind::given), "given");
  EXPECT_EQ(to_string(SplitKind::none), "none");
  EXPECT_EQ(to_string(SplitKind::time), "time");
  EXPECT_EQ(to_string(SplitKind::last), "last");
}

}  // namespace
}  // namespace poise
