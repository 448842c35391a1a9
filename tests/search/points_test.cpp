#include <filesystem>

#include <gtest/gtest.h>

#include "poise/search/search.hpp"

#include "support/random_dataset.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

class PointsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    data_ = {
        testing::random_dataset({.users = 80, .items = 25, .held_out_users = 30, .density = 0.25, .seed = 7}),
        "checksum of these data"};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Trainer trainer(Keep keep, std::uint64_t memory_limit = 1U << 30U) {
    return {data_, folder_, keep, memory_limit, *backend_, {.threads = 2}};
  }

  std::filesystem::path folder_;
  LoadedDataset data_;
  std::unique_ptr<Backend> backend_ = testing::tested_backend(2);
};

std::vector<ModelParameters> many_points() {
  std::vector<ModelParameters> points;
  for (const double lambda : {0.5, 20.0}) {
    for (const double alpha : {1.0, 3.0, 0.5}) {
      ModelParameters point{.lambda = lambda};
      point.weighting.alpha = alpha;
      points.push_back(point);
      point.zero_diagonal = true;
      points.push_back(point);
      point.dropout = 0.3;
      points.push_back(point);
      point = {.family = Family::wmf, .rank = 7, .lambda = lambda};
      point.weighting.alpha = alpha;
      points.push_back(point);
      for (const Regularizer regularizer :
           {Regularizer::weight_decay, Regularizer::dropout, Regularizer::data_weight_decay}) {
        point.family = Family::awmf;
        point.regularizer = regularizer;
        points.push_back(point);
      }
    }
  }
  return points;
}

/// What a point gives depends on nothing but the point: not on the order, on what was trained before, on a
/// journal, on the other diagonal.
TEST_F(PointsTest, AResultIsAFunctionOfThePointAlone) {
  const std::vector<ModelParameters> points = many_points();
  Trainer shared = trainer(Keep::shared_parts);
  Points first(shared, {}, nullptr, {.threads = 2});
  first.measure(points, true);
  Journal journal(folder_ / "journal", journal_header({}, 1, *backend_));
  Trainer other = trainer(Keep::shared_parts);
  Points second(other, {}, &journal, {.threads = 1});
  for (auto point = points.rbegin(); point != points.rend(); ++point) second.measure({*point}, false);
  for (const ModelParameters& point : points) {
    SCOPED_TRACE(first.key(point));
    Trainer alone = trainer(Keep::nothing);
    const Trained trained = alone.train(point);
    const PointResult& a = first.at(point);
    const PointResult& b = second.at(point);
    EXPECT_EQ(a.objective, trained.objective);
    EXPECT_EQ(b.objective, trained.objective);
    EXPECT_EQ(a.certificate.absolute, b.certificate.absolute);
    ASSERT_EQ(a.validation.size(), 3U);
    for (std::size_t k = 0; k < a.validation.size(); ++k) {
      EXPECT_EQ(a.validation[k].second.mean, b.validation[k].second.mean);
      EXPECT_EQ(a.validation[k].second.standard_error, b.validation[k].second.standard_error);
    }
  }
}

TEST_F(PointsTest, TheJournalSparesTheWork) {
  const std::vector<ModelParameters> points = many_points();
  {
    Journal journal(folder_ / "journal", journal_header({}, 1, *backend_));
    Trainer shared = trainer(Keep::shared_parts);
    Points(shared, {}, &journal, {}).measure(points, false);
    EXPECT_EQ(journal.size(), points.size());
  }
  Journal journal(folder_ / "journal", journal_header({}, 1, *backend_));
  Trainer shared = trainer(Keep::shared_parts);
  int trained = 0;
  Points again(shared, {}, &journal, {}, {.trained = [&](const auto&, auto, auto) { ++trained; }});
  again.measure(points, false);
  EXPECT_EQ(trained, 0);
  EXPECT_GT(again.at(points[0]).validation[0].second.mean, 0);
}

TEST_F(PointsTest, StopsBetweenPointsWhenTheTimeIsUp) {
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {}, {}, Points::Clock::now());
  try {
    points.measure(many_points(), false);
    FAIL() << "it went on";
  } catch (const TimeIsUp& up) {
    EXPECT_EQ(up.missing.size(), many_points().size());
  }
}

/// A lambda at which not even float64 has an inverse ends that point, not the search.
TEST_F(PointsTest, APointWithoutAModelIsNotTheEnd) {
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {});
  SearchSpace space{.lambda = {10}, .alpha = {2, 1e30}, .expand = false, .both_diagonals = true};
  const SearchResult result = search(points, space);
  EXPECT_EQ(result.points.size(), 2U);
  EXPECT_EQ(result.best->weighting.alpha, 2);
  EXPECT_TRUE(points.at(result.points.front()).failure.empty());
  EXPECT_FALSE(points.at(result.points.back()).failure.empty());
  space.alpha = {1e30};
  EXPECT_FALSE(search(points, space).best);
}

TEST_F(PointsTest, SearchingStopsEarlyAndTheChosenOneDoesNot) {
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {});
  const SearchSpace space{.base = {.family = Family::wmf, .rank = 5}, .lambda = {1, 10}, .alpha = {1, 5}};
  const SearchResult result = search(points, space);
  EXPECT_GT(result.weighted->least_decrease, space.base.least_decrease);
  const ModelParameters chosen = to_convergence(*result.weighted, space);
  EXPECT_EQ(chosen.least_decrease, space.base.least_decrease);
  EXPECT_EQ(chosen.tolerance, space.base.tolerance);
  EXPECT_LE(shared.train(chosen).objective, points.at(*result.weighted).objective);
}

TEST_F(PointsTest, WithoutWeightsAlphaIsOnePoint) {
  Trainer shared = trainer(Keep::shared_parts);
  Points points(shared, {}, nullptr, {});
  const SearchSpace space{.lambda = {1, 10},
                          .alpha = {1, 2},
                          .scheme = {Scheme::none, Scheme::constant, Scheme::log},
                          .expand = false};
  const SearchResult result = search(points, space);
  // none: 2; constant: 2 x 2; log: 2 x 2.
  EXPECT_EQ(result.points.size(), 10U);
  EXPECT_TRUE(result.unweighted->unweighted());
  EXPECT_FALSE(result.weighted->unweighted());
}

}  // namespace
}  // namespace poise
