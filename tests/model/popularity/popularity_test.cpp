#include "poise/model/popularity.hpp"

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(Popularity, CountsTrainingUsersNotValues) {
  const Csr X{
      .rows = 3, .cols = 4, .offsets = {0, 2, 3, 5}, .indices = {0, 2, 2, 1, 2}, .values = {9, 9, 9, 9, 9}};
  const Popularity model = Popularity::train(X.view());
  EXPECT_EQ(model.counts(), (std::vector<float>{1, 1, 3, 0}));
  Matrix<float> scores(2, 4, -1.0F);
  model.score(X.view().block(1, scores.rows()), scores.view());
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(scores(0, i), model.counts()[i]);
    EXPECT_EQ(scores(1, i), model.counts()[i]);
  }
}

}  // namespace
}  // namespace poise
