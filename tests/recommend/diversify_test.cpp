#include "poise/recommend/diversify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "poise/model/asymmetric/asymmetric.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/popularity.hpp"
#include "poise/recommend/explain.hpp"
#include "poise/recommend/recommend.hpp"

#include "support/expect_error.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::expect_error;
using testing::random_csr;
using testing::random_matrix;
using Items = std::vector<std::int32_t>;

/// Maximal marginal relevance from its definition, with the whole similarity of each item, and every value
/// anew in every round.
Items slow_order(const Scorer& model, const Items& pool, const std::vector<float>& scores, double L,
                 std::size_t count) {
  const std::size_t size = pool.size();
  std::vector<std::vector<float>> near(size, std::vector<float>(model.items()));
  for (std::size_t a = 0; a < size; ++a) model.similarity(pool[a], near[a]);
  const auto both = [&](std::size_t a, std::size_t b) {
    return std::max(0.0F, (near[a][pool[b]] + near[b][pool[a]]) / 2);
  };
  float largest = 0;
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) largest = a == b ? largest : std::max(largest, both(a, b));
  }
  const double range = static_cast<double>(scores.front()) - scores.back();
  std::vector<std::size_t> taken;
  while (taken.size() < std::min(count, size)) {
    std::size_t best = size;
    double highest = -10;
    for (std::size_t a = 0; a < size; ++a) {
      if (std::ranges::find(taken, a) != taken.end()) continue;
      double nearest = 0;
      for (const std::size_t b : taken)
        nearest = std::max(nearest, largest > 0 ? static_cast<double>(both(a, b) / largest) : 0);
      const double relevance = range > 0 ? (static_cast<double>(scores[a]) - scores.back()) / range : 0;
      const double value = (1 - L) * relevance - L * nearest;
      if (value > highest) {
        best = a;
        highest = value;
      }
    }
    taken.push_back(best);
  }
  Items order;
  for (const std::size_t place : taken) order.push_back(pool[place]);
  return order;
}

struct Model {
  std::unique_ptr<Scorer> scorer;
  Csr histories;
};

/// Dense, sparse and low-rank models; with whole numbers, so that scores and similarities tie.
Model small_model(unsigned seed) {
  const std::int64_t items = 4 + seed * 11 % 30;
  const int levels = seed % 2 == 0 ? 3 : 0;
  const Csr histories = random_csr(9, items, 0.3, false, seed + 50, true);
  if (seed % 3 == 0)
    return {std::make_unique<FullRank>(random_matrix<float>(items, items, seed, levels)), histories};
  if (seed % 3 == 1)
    return {std::make_unique<FullRank>(random_csr(items, items, 0.3, true, seed)), histories};
  return {std::make_unique<Asymmetric>(random_matrix<float>(items, 3, seed, levels),
                                       random_matrix<float>(items, 3, seed + 1, levels)),
          histories};
}

Items items_of(const RankedLists& lists, std::int64_t row) {
  return {lists.items(row).begin(), lists.items(row).end()};
}

TEST(Diversify, IsMaximalMarginalRelevance) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const Model model = small_model(seed);
    const CsrView histories = model.histories.view();
    const RankedLists plain = recommend(*model.scorer, histories, {.k = 1000}, {.threads = 1});
    for (const double L : {0.1, 0.3, 0.5, 0.9, 1.0}) {
      for (const std::int64_t k : {1, 3, 1000}) {
        const RankedLists lists =
            recommend(*model.scorer, histories, {.k = k, .diversify = L}, {.threads = 2});
        for (std::int64_t row = 0; row < lists.rows(); ++row) {
          if (plain.size(row) == 0) {
            EXPECT_EQ(lists.size(row), 0);
            continue;
          }
          const std::vector<float> scores(plain.scores(row).begin(), plain.scores(row).end());
          ASSERT_EQ(items_of(lists, row), slow_order(*model.scorer, items_of(plain, row), scores, L, k))
              << "seed " << seed << ", L " << L << ", k " << k << ", row " << row;
        }
      }
    }
  }
}

TEST(Diversify, ZeroIsTheListWithoutIt) {
  const FullRank model(random_matrix<float>(300, 300, 1, 5));
  const Csr histories = random_csr(20, 300, 0.1, false, 2);
  const RankedLists plain = recommend(model, histories.view(), {.k = 7}, {});
  const RankedLists zero = recommend(model, histories.view(), {.k = 7, .diversify = 0}, {});
  for (std::int64_t row = 0; row < plain.rows(); ++row) {
    EXPECT_TRUE(std::ranges::equal(plain.items(row), zero.items(row)));
    EXPECT_TRUE(std::ranges::equal(plain.scores(row), zero.scores(row)));
  }
}

/// Of a large catalogue the candidates are the 100 best for 7 items, the 150 best for 30, the best first.
TEST(Diversify, ChoosesAmongTheBest) {
  const FullRank model(random_matrix<float>(400, 400, 1));
  const Csr histories = random_csr(6, 400, 0.05, false, 2);
  const RankedLists plain = recommend(model, histories.view(), {.k = 400}, {});
  for (const std::int64_t k : {7, 30}) {
    const std::int64_t pool = k == 7 ? 100 : 150;
    EXPECT_EQ(Diversifier(model, 0.5, k).pool(), pool);
    const RankedLists lists = recommend(model, histories.view(), {.k = k, .diversify = 0.5}, {});
    for (std::int64_t row = 0; row < lists.rows(); ++row) {
      const Items all = items_of(plain, row);
      const std::vector<float> scores(plain.scores(row).begin(), plain.scores(row).begin() + pool);
      EXPECT_EQ(items_of(lists, row),
                slow_order(model, Items(all.begin(), all.begin() + pool), scores, 0.5, k));
      EXPECT_EQ(lists.items(row)[0], plain.items(row)[0]);
    }
  }
  EXPECT_EQ(Diversifier(model, 0.5, 300).pool(), 400);
}

TEST(Diversify, FiltersHoldAndScoresStayTheModels) {
  const FullRank model(random_matrix<float>(60, 60, 3));
  const Csr histories = random_csr(8, 60, 0.2, false, 4);
  const Csr seen = random_csr(8, 60, 0.2, false, 5);
  Items only;
  for (std::int32_t i = 10; i < 50; ++i) only.push_back(i);
  const RankedLists lists = recommend(
      model, histories.view(),
      {.k = 15, .seen = seen.view(), .exclude = {20, 21}, .only = only, .diversify = 0.7}, {.threads = 3});
  for (std::int64_t row = 0; row < lists.rows(); ++row) {
    std::set<std::int32_t> listed;
    for (std::int64_t r = 0; r < lists.size(row); ++r) {
      const std::int32_t item = lists.items(row)[r];
      EXPECT_TRUE(item >= 10 && item < 50 && item != 20 && item != 21);
      EXPECT_FALSE(std::ranges::binary_search(histories.view().row(row), item));
      EXPECT_FALSE(std::ranges::binary_search(seen.view().row(row), item));
      EXPECT_TRUE(listed.insert(item).second);
      double sum = 0;
      for (const Contribution& reason : explain(model, histories.view().row(row), {}, item))
        sum += reason.contribution;
      EXPECT_NEAR(sum, lists.scores(row)[r], 1e-5);
    }
  }
}

TEST(Diversify, InfiniteScoresLeaveLikenessAlone) {
  const Items items = {0, 1, 2};
  Matrix<float> B(3, 3);
  B(0, 1) = 1;
  const FullRank model(std::move(B));
  const std::vector<float> scores = {2, 1, -std::numeric_limits<float>::infinity()};
  EXPECT_EQ(Diversifier(model, 0.5, 3).order(items, scores), (Items{0, 2, 1}));
}

TEST(Diversify, Refuses) {
  const FullRank model(random_matrix<float>(1100, 1100, 1));
  const Csr histories = random_csr(2, 1100, 0.01, false, 2);
  const auto run = [&](const Scorer& scorer, std::int64_t k, double L) {
    return [&, k, L] {
      recommend(scorer, CsrView{.rows = 0, .cols = scorer.items(), .offsets = histories.offsets},
                {.k = k, .diversify = L}, {});
    };
  };
  for (const double L : {-0.1, 1.1, std::nan("")})
    expect_error(ErrorKind::usage, "from 0 to 1", run(model, 5, L));
  expect_error(ErrorKind::usage, "at most 1000 items, and 1001 are asked for", run(model, 1001, 0.5));
  EXPECT_NO_THROW(run(model, 1001, 0)());
  expect_error(ErrorKind::usage, "similar items need a model", run(Popularity({1, 2}), 1, 0.5));
}

}  // namespace
}  // namespace poise
