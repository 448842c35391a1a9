#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "poise/base/observer.hpp"
#include "poise/search/search.hpp"

#include "support/random_dataset.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

/// Counts fits of models with neighbours.
class CountedFits : public Observer {
 public:
  void start(std::string_view task, std::uint64_t /*total*/, std::string_view /*unit*/) override {
    if (task == "solving") ++fits;
  }
  int fits = 0;
};

class NeighbourPointsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    data_ = {
        testing::random_dataset({.users = 150, .items = 40, .held_out_users = 60, .density = 0.2, .seed = 3}),
        "checksum of these data"};
  }
  Trainer trainer(std::uint64_t memory_limit = 1U << 30U) {
    return {data_, {}, Keep::shared_parts, memory_limit, *backend_, {.threads = 2, .observer = &counted_}};
  }

  CountedFits counted_;
  LoadedDataset data_;
  std::unique_ptr<Backend> backend_ = testing::tested_backend(2);
};

void expect_same(const Points& a, const Points& b, const ModelParameters& point) {
  SCOPED_TRACE(a.key(point));
  ASSERT_NE(b.find(point), nullptr);
  EXPECT_EQ(a.at(point).objective, b.at(point).objective);
  EXPECT_EQ(a.at(point).certificate.absolute, b.at(point).certificate.absolute);
  for (std::size_t k = 0; k < a.at(point).validation.size(); ++k)
    EXPECT_EQ(a.at(point).validation[k].second.mean, b.at(point).validation[k].second.mean);
}

/// A grid with several numbers of neighbours takes one fit for each of its other points.
TEST_F(NeighbourPointsTest, OneFitServesAllNumbersOfNeighbours) {
  SearchSpace space{.base = {.zero_diagonal = true, .lambda_exponent = 0.5},
                    .lambda = {1, 10},
                    .alpha = {1, 3},
                    .neighbours = {4, 9, 20},
                    .dropout = {0, 0.3},
                    .expand = false};
  Trainer shared = trainer();
  Points together(shared, {}, nullptr, {});
  const SearchResult found = search(together, space);
  EXPECT_EQ(found.points.size(), 24U);
  EXPECT_EQ(counted_.fits, 8);
  for (const std::int64_t neighbours : {4, 9, 20}) {
    space.neighbours = {neighbours};
    Points alone(shared, {}, nullptr, {});
    for (const ModelParameters& point : search(alone, space).points) {
      expect_same(alone, together, point);
      EXPECT_FALSE(alone.at(point).certificate.share) << "only what is chosen is compared with dense models";
    }
  }
  EXPECT_TRUE(shared.train(*found.best).certificate.share);
}

/// By profiles each number of neighbours is searched as if it were alone, and they go on together.
TEST_F(NeighbourPointsTest, ProfilesSideBySideAreAsAlone) {
  SearchSpace space{.method = SearchMethod::best, .lambda = {}, .alpha = {0.5, 1}, .neighbours = {3, 12}};
  Trainer shared = trainer();
  Points together(shared, {}, nullptr, {});
  const SearchResult both = search(together, space);
  const int fits = counted_.fits;
  EXPECT_TRUE(both.complete);
  std::size_t points = 0;
  for (const std::int64_t neighbours : {3, 12}) {
    space.neighbours = {neighbours};
    Points alone(shared, {}, nullptr, {});
    const SearchResult one = search(alone, space);
    points += one.points.size();
    for (const ModelParameters& point : one.points) expect_same(alone, together, point);
  }
  EXPECT_EQ(both.points.size(), points);
  EXPECT_EQ(both.profiles.size(), 4U);
  EXPECT_LT(fits, counted_.fits - fits);
}

/// Where several models do not fit beside each other they are trained one after the other, to the same bits.
TEST_F(NeighbourPointsTest, WithoutRoomTheyAreTrainedOneByOne) {
  const SearchSpace space{.lambda = {2}, .alpha = {2}, .neighbours = {5, 30, 35, 38}, .expand = false};
  Trainer wide = trainer();
  Points roomy(wide, {}, nullptr, {});
  const SearchResult found = search(roomy, space);
  ModelParameters largest = found.points.back();
  EXPECT_EQ(counted_.fits, 1);
  EXPECT_EQ(largest.neighbours, 38);
  Trainer narrow = trainer(static_cast<std::uint64_t>(wide.expected_bytes(largest)));
  Points tight(narrow, {}, nullptr, {});
  counted_.fits = 0;
  for (const ModelParameters& point : search(tight, space).points) expect_same(roomy, tight, point);
  EXPECT_EQ(counted_.fits, 4);
}

/// More neighbours than lambda lets float64 solve for end that point; fewer may have a model.
TEST_F(NeighbourPointsTest, APointWithoutAModelIsNotTheEnd) {
  const SearchSpace space{.lambda = {1e-25}, .alpha = {1}, .neighbours = {1, 40}, .expand = false};
  // Two items that everyone has, and nobody has only one of them.
  Csr& train = data_.dataset.train;
  train = {.rows = 150, .cols = 40, .offsets = {0}, .indices = {}, .values = {}};
  for (int user = 0; user < 150; ++user) {
    train.indices.insert(train.indices.end(), {0, 1});
    train.offsets.push_back(train.entries());
  }
  Trainer shared = trainer();
  Points points(shared, {}, nullptr, {});
  const SearchResult found = search(points, space);
  ASSERT_EQ(found.points.size(), 2U);
  EXPECT_TRUE(points.at(found.points.front()).failure.empty());
  EXPECT_FALSE(points.at(found.points.back()).failure.empty());
}

}  // namespace
}  // namespace poise
