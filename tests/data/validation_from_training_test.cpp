#include "poise/data/validation_from_training.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/data/split.hpp"

#include "data/log_of.hpp"

namespace poise {
namespace {

using testing::log_of;
using testing::LogRow;

/// Users of 1, 2, ..., 40 items, each with a value, and a test log of some of them.
LoadedDataset given_without_validation() {
  std::vector<LogRow> train;
  for (int u = 1; u <= 40; ++u) {
    for (int k = 0; k < u; ++k)
      train.push_back({std::to_string(u), std::to_string((u * 7 + k) % 50), 1.0F + static_cast<float>(k)});
  }
  const Interactions test = log_of({{"3", "9", 1.0F}, {"40", "1", 2.0F}, {"new", "2", 1.0F}});
  return {split_given(log_of(train), {}, test, {}), "0123456789abcdef"};
}

TEST(ValidationFromTraining, IsForGivenSplitsWithoutOne) {
  LoadedDataset data = given_without_validation();
  EXPECT_TRUE(lacks_given_validation(data.dataset));
  EXPECT_FALSE(lacks_given_validation(validation_from_training(data, 1, {}).dataset));
  data.dataset.split = SplitKind::none;
  EXPECT_FALSE(lacks_given_validation(data.dataset));
}

TEST(ValidationFromTraining, TakesATenthOfEachUserAndLosesNothing) {
  const LoadedDataset data = given_without_validation();
  const LoadedDataset derived = validation_from_training(data, 1, {});
  validate(derived.dataset);
  const CsrView all = data.dataset.train.view();
  const CsrView train = derived.dataset.train.view();
  const CsrView targets = derived.dataset.validation->targets.view();
  ASSERT_EQ(train.rows, all.rows);
  ASSERT_EQ(targets.rows, all.rows);
  for (std::int64_t u = 0; u < all.rows; ++u) {
    const std::int64_t rows = all.row_size(u);
    const std::int64_t tenth = rows < 2 ? 0 : rows < 15 ? 1 : rows < 25 ? 2 : rows < 35 ? 3 : 4;
    EXPECT_EQ(targets.row_size(u), tenth) << rows << " rows";
    std::vector<std::pair<std::int32_t, float>> before;
    std::vector<std::pair<std::int32_t, float>> after;
    for (std::int64_t k = 0; k < rows; ++k) before.emplace_back(all.row(u)[k], all.row_values(u)[k]);
    for (const CsrView& part : {train, targets}) {
      for (std::int64_t k = 0; k < part.row_size(u); ++k)
        after.emplace_back(part.row(u)[k], part.row_values(u)[k]);
    }
    std::ranges::sort(after);
    EXPECT_EQ(before, after);
  }
  EXPECT_EQ(derived.dataset.histories(*derived.dataset.validation).items.indices.size(), train.indices.size())
      << "what chooses is no history";
  EXPECT_FALSE(derived.dataset.test);
}

TEST(ValidationFromTraining, FollowsFromTheSeedAlone) {
  const LoadedDataset data = given_without_validation();
  const LoadedDataset one = validation_from_training(data, 1, {.threads = 1});
  const LoadedDataset threads = validation_from_training(data, 1, {.threads = 5});
  EXPECT_EQ(one.dataset, threads.dataset);
  EXPECT_EQ(one.checksum, threads.checksum);
  const LoadedDataset two = validation_from_training(data, 2, {});
  EXPECT_NE(one.dataset, two.dataset);
  EXPECT_NE(one.checksum, two.checksum);
  EXPECT_NE(one.checksum, data.checksum);
  LoadedDataset other = data;
  other.checksum = "fedcba9876543210";
  EXPECT_NE(validation_from_training(other, 1, {}).checksum, one.checksum);
}

TEST(ValidationFromTraining, DrawsAllRowsAlike) {
  // The longest history gives 4 of its 40 rows: over many seeds each row comes up about as often.
  const LoadedDataset data = given_without_validation();
  std::vector<int> count(50, 0);
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const LoadedDataset derived = validation_from_training(data, seed, {});
    for (const std::int32_t item : derived.dataset.validation->targets.view().row(39)) ++count[item];
  }
  for (const std::int32_t item : data.dataset.train.view().row(39)) {
    EXPECT_GT(count[item], 55);
    EXPECT_LT(count[item], 150);
  }
}

TEST(ValidationFromTraining, NeedsAUserOfTwoRows) {
  const LoadedDataset data{split_given(log_of({{"a", "x"}, {"b", "y"}}), {}, log_of({{"a", "y"}}), {}), "0"};
  EXPECT_THROW(validation_from_training(data, 1, {}), Error);
}

}  // namespace
}  // namespace poise
