#include "poise/search/grid.hpp"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

namespace poise {
namespace {

/// A score for every point, and a record of what was asked for.
class SyntheticSurface {
 public:
  explicit SyntheticSurface(std::function<double(const GridPoint&)> score) : score_(std::move(score)) {}

  Surface surface() {
    return {.measure =
                [this](std::span<const GridPoint> points) {
                  for (const GridPoint& point : points) {
                    EXPECT_FALSE(scores_.contains(point)) << "asked for twice";
                    scores_[point] = score_(point);
                  }
                },
            .score = [this](const GridPoint& point) { return scores_.at(point); },
            .kind =
                [](const GridPoint& point) {
                  return point.alpha == 1  ? RowKind::unweighted
                         : point.alpha > 1 ? RowKind::weighted
                                           : RowKind::down_weighted;
                }};
  }
  [[nodiscard]] std::size_t asked() const { return scores_.size(); }
  [[nodiscard]] bool knows(double lambda, double alpha, std::size_t setting = 0) const {
    return scores_.contains({setting, lambda, alpha});
  }

 private:
  std::function<double(const GridPoint&)> score_;
  std::map<GridPoint, double> scores_;
};

/// A smooth hill over the logarithms.
auto hill(double lambda, double alpha) {
  return [=](const GridPoint& point) {
    return 0.4 - 0.01 * std::pow(std::log10(point.lambda / lambda), 2) -
           0.02 * std::pow(std::log2(point.alpha / alpha), 2);
  };
}

const std::vector<double> lambdas = {1e-4, 1e-2, 1, 1e2, 1e4};
const std::vector<double> alphas = {1, 2, 5, 10, 20};

TEST(Explore, StaysInsideWhereTheBestDoes) {
  SyntheticSurface surface(hill(1, 5));
  const Explored explored = explore({.lambda = lambdas, .alpha = alphas}, surface.surface());
  EXPECT_EQ(surface.asked(), 25U);
  EXPECT_EQ(explored.points.size(), 25U);
  EXPECT_EQ(explored.weighted->point, (GridPoint{0, 1, 5}));
  EXPECT_EQ(explored.unweighted->point, (GridPoint{0, 1, 1}));
  EXPECT_FALSE(explored.down_weighted);
}

TEST(Explore, GoesOnBelowTheLowestLambda) {
  SyntheticSurface surface(hill(3e-7, 5));
  const Explored explored = explore({.lambda = lambdas, .alpha = alphas}, surface.surface());
  // 1e-6 beats 1e-4, the step to 1e-8 does not, and there it ends.
  EXPECT_NEAR(explored.unweighted->point.lambda, 1e-6, 1e-12);
  EXPECT_TRUE(surface.knows(1e-8, 1));
  EXPECT_FALSE(surface.knows(1e-10, 1));
  // All alphas of the kind go along.
  for (const double alpha : {2.0, 5.0, 10.0, 20.0}) EXPECT_TRUE(surface.knows(1e-6, alpha));
  EXPECT_FALSE(surface.knows(1e6, 1));
}

TEST(Explore, GoesOnAboveTheHighestLambdaAndAlpha) {
  SyntheticSurface surface(hill(1e6, 80));
  const Explored explored = explore({.lambda = lambdas, .alpha = alphas}, surface.surface());
  EXPECT_EQ(explored.weighted->point, (GridPoint{0, 1e6, 80}));
  EXPECT_EQ(explored.unweighted->point, (GridPoint{0, 1e6, 1}));
  EXPECT_TRUE(surface.knows(1e6, 160)) << "one step beyond shows that it is the best";
  EXPECT_FALSE(surface.knows(1e6, 320));
}

TEST(Explore, StopsAfterFourStepsAndWhenLittleIsGained) {
  SyntheticSurface endless([](const GridPoint& point) { return std::log10(point.lambda); });
  const Explored explored = explore({.lambda = {1, 100}, .alpha = {1}}, endless.surface());
  EXPECT_NEAR(explored.unweighted->point.lambda, 1e10, 1);
  EXPECT_EQ(endless.asked(), 6U);

  SyntheticSurface flat([](const GridPoint& point) { return 0.3 + 1e-6 * std::log10(point.lambda); });
  explore({.lambda = {1, 100}, .alpha = {1}}, flat.surface());
  EXPECT_EQ(flat.asked(), 3U) << "an improvement below 1e-5 is the last step";
}

TEST(Explore, NeverTakesAlphaBelowTheGridOrExtendsASingleValue) {
  SyntheticSurface surface(hill(1, 1.0 / 64));
  explore({.lambda = {1}, .alpha = {2, 5}}, surface.surface());
  EXPECT_EQ(surface.asked(), 2U);
  SyntheticSurface single(hill(1e9, 99));
  explore({.lambda = {1}, .alpha = {2}}, single.surface());
  EXPECT_EQ(single.asked(), 1U);
}

TEST(Explore, DoesNotExpandWhenNotAskedTo) {
  SyntheticSurface surface(hill(1e9, 99));
  const Explored explored = explore({.lambda = lambdas, .alpha = alphas, .expand = false}, surface.surface());
  EXPECT_EQ(surface.asked(), 25U);
  EXPECT_EQ(explored.weighted->point, (GridPoint{0, 1e4, 20}));
}

TEST(Explore, RefinementHalvesTheDistance) {
  SyntheticSurface surface(hill(30, 3));
  const Explored explored =
      explore({.lambda = lambdas, .alpha = alphas, .expand = false, .refine = 3}, surface.surface());
  // 100 -> 10, 1000 -> 31.6 -> 17.8, 56.2: the unweighted best ends within a factor of 1.8 of 30.
  EXPECT_TRUE(surface.knows(10, 1));
  EXPECT_TRUE(surface.knows(1000, 1));
  EXPECT_TRUE(surface.knows(31.6, 1));
  EXPECT_EQ(explored.unweighted->point.lambda, 31.6);
  EXPECT_EQ(explored.weighted->point.lambda, 31.6);
  EXPECT_NEAR(std::log2(explored.weighted->point.alpha / 3), 0, 0.2);
  const std::size_t with = surface.asked();
  EXPECT_LE(with, 25U + 3U * 2U + 3U * 4U);
}

TEST(Explore, RefinementAtAnEdgeTakesTheSpacingOfTheOtherSide) {
  SyntheticSurface surface(hill(1e5, 1));
  const Explored explored =
      explore({.lambda = {1, 100}, .alpha = {1}, .expand = false, .refine = 1}, surface.surface());
  EXPECT_TRUE(surface.knows(10, 1));
  EXPECT_TRUE(surface.knows(1000, 1));
  EXPECT_EQ(explored.unweighted->point.lambda, 1000);
}

TEST(Explore, EachKindByItself) {
  const auto by_kind = [](const GridPoint& point) {
    return point.alpha < 1    ? hill(1e-2, 0.5)(point)
           : point.alpha == 1 ? hill(1e2, 1)(point)
                              : hill(1, 2)(point);
  };
  SyntheticSurface surface(by_kind);
  const Explored explored =
      explore({.lambda = lambdas, .alpha = {0.2, 0.5, 1, 2, 5, 10, 20}}, surface.surface());
  EXPECT_EQ(surface.asked(), 35U);
  EXPECT_EQ(explored.down_weighted->point, (GridPoint{0, 1e-2, 0.5}));
  EXPECT_EQ(explored.unweighted->point, (GridPoint{0, 1e2, 1}));
  EXPECT_EQ(explored.weighted->point, (GridPoint{0, 1, 2}));
}

TEST(Explore, ExpandsAndRefinesAtTheBestSettingAlone) {
  const auto score = [](const GridPoint& point) {
    return hill(1e6, 5)(point) + (point.setting == 1 ? 0.1 : 0);
  };
  SyntheticSurface surface(score);
  const Explored explored =
      explore({.settings = 3, .lambda = lambdas, .alpha = alphas, .refine = 1}, surface.surface());
  EXPECT_EQ(explored.weighted->point.setting, 1U);
  EXPECT_TRUE(surface.knows(1e6, 1, 1));
  EXPECT_FALSE(surface.knows(1e6, 1, 0));
  EXPECT_FALSE(surface.knows(1e6, 5, 2));
}

TEST(Explore, TiesGoToTheFirst) {
  SyntheticSurface surface([](const GridPoint&) { return 0.5; });
  const Explored explored = explore({.lambda = {1, 10, 100}, .alpha = {1}}, surface.surface());
  EXPECT_LE(explored.unweighted->point.lambda, 1);
}

TEST(Explore, LambdaZeroHasNoNeighbours) {
  SyntheticSurface surface([](const GridPoint& point) { return -point.lambda; });
  const Explored explored = explore({.lambda = {0, 1, 2}, .alpha = {1}, .refine = 2}, surface.surface());
  EXPECT_EQ(explored.unweighted->point.lambda, 0);
  EXPECT_EQ(surface.asked(), 3U);
}

}  // namespace
}  // namespace poise
