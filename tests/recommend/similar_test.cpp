#include "poise/recommend/similar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/popularity.hpp"
#include "poise/recommend/recommend.hpp"

#include "support/expect_error.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using ::testing::ElementsAre;
using testing::expect_error;
using testing::random_matrix;

TEST(Similar, TheLargestOfTheRowWithoutItself) {
  Matrix<float> B(4, 4);
  const float row[4] = {1, 9, 3, 1};
  std::copy(row, row + 4, B.row(1).begin());
  for (const FullRank& model : {FullRank(B), FullRank(keep_top(B.view(), 4, 1))}) {
    const RankedLists list = similar(model, 1, 2);
    EXPECT_THAT(list.items(0), ElementsAre(2, 0));
    EXPECT_THAT(list.scores(0), ElementsAre(3.0F, 1.0F));
    EXPECT_THAT(similar(model, 1, 10).items(0), ElementsAre(2, 0, 3));
  }
}

TEST(Similar, IsWhatAHistoryOfTheItemAloneIsRecommended) {
  const FullRank model(random_matrix<float>(90, 90, 1, 20));
  for (std::int32_t item = 0; item < 90; ++item) {
    const Csr history{.rows = 1, .cols = 90, .offsets = {0, 1}, .indices = {item}, .values = {}};
    const RankedLists wanted = recommend(model, history.view(), {.k = 15}, {.threads = 1});
    const RankedLists list = similar(model, item, 15);
    EXPECT_TRUE(std::ranges::equal(list.items(0), wanted.items(0)));
    EXPECT_TRUE(std::ranges::equal(list.scores(0), wanted.scores(0)));
  }
}

TEST(Similar, RefusesWhatMakesNoSense) {
  const Popularity popularity({1, 2, 3});
  expect_error(ErrorKind::usage, "does not use the history", [&] { similar(popularity, 0, 1); });
  const FullRank model(Matrix<float>(3, 3));
  expect_error(ErrorKind::usage, "k is 0", [&] { similar(model, 0, 0); });
  expect_error(ErrorKind::input, "item number 3 ", [&] { similar(model, 3, 1); });
  EXPECT_EQ(similar(FullRank(Matrix<float>(1, 1)), 0, 5).size(0), 0);
}

}  // namespace
}  // namespace poise
