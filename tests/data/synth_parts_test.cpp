// The pieces that synthetic feedback is made of.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "poise/data/synth/alias_table.hpp"
#include "poise/data/synth/repair.hpp"
#include "poise/data/synth/user.hpp"

#include "support/expect_error.hpp"
#include "support/stop_at_once.hpp"

namespace poise::synth {
namespace {

TEST(CounterRng, IsAFunctionOfItsKey) {
  CounterRng one(1, Purpose::items, 7);
  CounterRng same(1, Purpose::items, 7);
  EXPECT_EQ(one.next(), same.next());
  EXPECT_EQ(one.next(), same.next());
  const std::uint64_t third = one.next();
  EXPECT_NE(third, CounterRng(2, Purpose::items, 7).next());
  EXPECT_NE(CounterRng(1, Purpose::items, 7).next(), CounterRng(1, Purpose::taste, 7).next());
  EXPECT_NE(CounterRng(1, Purpose::items, 7).next(), CounterRng(1, Purpose::items, 8).next());
}

TEST(CounterRng, FirstDrawsOfNeighbouringKeysAreUniformAndNormal) {
  constexpr int draws = 100'000;
  double sum = 0;
  double squares = 0;
  std::array<int, 10> tenths{};
  for (int k = 0; k < draws; ++k) {
    const double z = CounterRng(1, Purpose::activity, k).normal();
    sum += z;
    squares += z * z;
    ++tenths[CounterRng(1, Purpose::items, k).below(10)];
  }
  EXPECT_NEAR(sum / draws, 0.0, 0.02);
  EXPECT_NEAR(squares / draws, 1.0, 0.02);
  for (const int count : tenths) EXPECT_NEAR(count, draws / 10, 500);
}

TEST(AliasTable, DrawsInProportionToTheWeights) {
  const std::vector<std::int32_t> labels{5, 9, 2, 7};
  const std::vector<double> weights{1.0, 0.0, 6.0, 3.0};
  const AliasTable table(labels, weights);
  CounterRng rng(1, Purpose::items, 0);
  std::array<int, 10> counts{};
  for (int k = 0; k < 100'000; ++k) ++counts[table.draw(rng)];
  EXPECT_NEAR(counts[5], 10'000, 500);
  EXPECT_EQ(counts[9], 0);
  EXPECT_NEAR(counts[2], 60'000, 800);
  EXPECT_NEAR(counts[7], 30'000, 800);
}

TEST(Activity, AddsUpToTheTotalWithinItsBounds) {
  const Shape& shape = shape_of(SynthShape::demo);
  const std::vector<std::int64_t> activity = make_activity(shape, 500, 30'000, 4, {});
  std::int64_t sum = 0;
  for (const std::int64_t count : activity) {
    EXPECT_GE(count, shape.min_user_items);
    EXPECT_LE(count, shape.items / 2);
    sum += count;
  }
  EXPECT_NEAR(double(sum), 30'000, 300);
}

TEST(Activity, IsTheSameForAnyThreadCount) {
  const Shape& shape = shape_of(SynthShape::demo);
  EXPECT_EQ(make_activity(shape, 200'000, 9'000'000, 4, {.threads = 1}),
            make_activity(shape, 200'000, 9'000'000, 4, {.threads = 3}));
}

TEST(Synth, StopsWhenAskedInEveryStage) {
  const Shape& shape = shape_of(SynthShape::demo);
  testing::StopAtOnce observer;
  testing::error_message(ErrorKind::interrupted, [&] {
    make_activity(shape, 500, 30'000, 4, {.threads = 1, .observer = &observer});
  });
  Csr matrix = synthesize({}, {});
  testing::error_message(ErrorKind::interrupted, [&] {
    repair_rare_items(matrix, shape, make_catalogue(shape, 1), 30, 1, &observer);
  });
  testing::error_message(ErrorKind::interrupted,
                         [&] { synth_interactions(matrix, 1, {.threads = 1, .observer = &observer}); });
}

TEST(DrawItems, EndsEvenForAUserWhoTakesHalfTheCatalogue) {
  const Shape& shape = shape_of(SynthShape::demo);
  const Catalogue catalogue = make_catalogue(shape, 1);
  std::vector<std::int32_t> row(shape.items / 2);
  Taken taken;
  draw_items(shape, catalogue, make_taste(shape, catalogue, 1, 0), CounterRng(1, Purpose::items, 0), taken,
             row);
  EXPECT_TRUE(std::adjacent_find(row.begin(), row.end(), std::greater_equal<>()) == row.end());
}

TEST(Repair, GivesRareItemsUsersAndKeepsEveryUsersCount) {
  const Shape& shape = shape_of(SynthShape::demo);
  const Catalogue catalogue = make_catalogue(shape, 1);
  Csr matrix = synthesize({}, {});
  const Csr before = matrix;
  const std::int64_t swaps = repair_rare_items(matrix, shape, catalogue, 30, 1, nullptr);
  std::int64_t missing = 0;
  for (const std::int64_t count : column_counts(before.view()))
    missing += std::max<std::int64_t>(0, 30 - count);
  EXPECT_GT(missing, 0);
  EXPECT_EQ(swaps, missing);
  EXPECT_EQ(matrix.offsets, before.offsets);
  for (const std::int64_t count : column_counts(matrix.view())) EXPECT_GE(count, 30);
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    const auto row = matrix.view().row(u);
    EXPECT_TRUE(std::adjacent_find(row.begin(), row.end(), std::greater_equal<>()) == row.end()) << u;
  }
}

TEST(Repair, GivesUpWhereItCannotHelp) {
  Csr matrix{.rows = 1, .cols = 700, .offsets = {0, 2}, .indices = {3, 4}, .values = {}};
  const Shape& shape = shape_of(SynthShape::demo);
  EXPECT_EQ(repair_rare_items(matrix, shape, make_catalogue(shape, 1), 5, 1, nullptr), 0);
  EXPECT_EQ(matrix.indices, (std::vector<std::int32_t>{3, 4}));
}

}  // namespace
}  // namespace poise::synth
