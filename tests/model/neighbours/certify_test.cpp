#include "poise/model/neighbours/certify.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "poise/model/neighbours/fit.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/random_data.hpp"

namespace poise {
namespace {

constexpr std::int64_t saved_neighbours = 6;
constexpr std::uint64_t room = 1U << 30U;

/// A model, its data, and a way to change an entry of it.
struct SavedModel {
  Csr X = testing::random_csr(120, 30, 0.2, false, 11);
  Weights W = make_weights(X.view(), {.alpha = 2.5});
  FullRankOptions options = {.lambda = 3,
                             .lambda_exponent = 0.5,
                             .dropout = 0.2,
                             .unconstrained = false,
                             .zero_diagonal = true,
                             .memory_limit = room};
  NeighbourProblem problem = make_neighbour_problem(X.view(), W, options, 1);
  NeighbourFit fit = fit_neighbours(problem, std::vector{saved_neighbours}, 7, {.threads = 2});
  Csr B = rows_of(fit.solutions.front().columns);

  [[nodiscard]] FullRankCheck check(std::int64_t neighbours = saved_neighbours, int threads = 2) const {
    return certify_neighbours(X.view(), W, options, neighbours, B.view(), {.threads = threads});
  }
};

TEST(CertifyNeighbours, AModelIsCertifiedAsItsFitWas) {
  const SavedModel model;
  const Certificate fitted = support_certificate(model.fit.solutions.front().figures);
  for (const int threads : {1, 3}) {
    const FullRankCheck check = model.check(saved_neighbours, threads);
    EXPECT_TRUE(check.converged);
    EXPECT_EQ(check.missing, 0);
    EXPECT_EQ(check.certificate.absolute, fitted.absolute);
    EXPECT_EQ(check.certificate.worst_column, fitted.worst_column);
    EXPECT_EQ(check.certificate.verified_columns, 30);
    ASSERT_TRUE(check.certificate.share);
    EXPECT_GT(check.certificate.share->low, 0.3);
    EXPECT_LE(check.certificate.share->high, 1);
  }
}

/// One entry that is a little off is found, and by how much it raises the objective.
TEST(CertifyNeighbours, AnEntryThatIsOffIsFound) {
  SavedModel model;
  const double before = model.check().objective;
  model.B.values[4] += 0.01F;
  const FullRankCheck check = model.check();
  EXPECT_FALSE(check.converged);
  EXPECT_EQ(check.missing, 1);
  EXPECT_GT(check.certificate.worst_column, 1e-6);
  const double excess = check.objective - before;
  EXPECT_GT(excess, 0);
  EXPECT_NEAR(check.certificate.absolute, excess, 1e-6 * excess);
}

/// An entry outside of the neighbours, or on a diagonal that is to be zero, has no bound.
TEST(CertifyNeighbours, AnEntryElsewhereHasNoBound) {
  for (const bool on_diagonal : {false, true}) {
    SavedModel model;
    const auto support = model.fit.solutions.front().columns.support(9);
    std::int32_t item = 9;
    while (!on_diagonal && (item == 9 || std::ranges::find(support, item) != support.end())) --item;
    Csr changed{.rows = 30, .cols = 30, .offsets = {0}, .indices = {}, .values = {}};
    for (std::int32_t i = 0; i < 30; ++i) {
      const auto items = model.B.view().row(i);
      const auto values = model.B.view().row_values(i);
      bool put = i != item;
      for (std::size_t e = 0; e <= items.size(); ++e) {
        if (!put && (e == items.size() || items[e] > 9)) {
          changed.indices.push_back(9);
          changed.values.push_back(0.5F);
          put = true;
        }
        if (e == items.size()) continue;
        changed.indices.push_back(items[e]);
        changed.values.push_back(values[e]);
      }
      changed.offsets.push_back(changed.entries());
    }
    model.B = std::move(changed);
    const FullRankCheck check = model.check();
    EXPECT_EQ(check.missing, 1);
    EXPECT_FALSE(check.converged);
    EXPECT_TRUE(std::isinf(check.certificate.absolute));
    EXPECT_FALSE(check.certificate.share);
  }
}

/// A model of fewer neighbours is not one of more, nor the other way round.
TEST(CertifyNeighbours, AnotherNumberOfNeighboursIsAnotherModel) {
  const SavedModel model;
  EXPECT_GT(model.check(saved_neighbours + 1).missing, 20);
  EXPECT_GT(model.check(saved_neighbours - 1).missing, 20);
}

TEST(CertifyNeighbours, ColumnsOfItemsWithoutUsersAreZero) {
  SavedModel model;
  Csr& X = model.X;
  std::erase_if(X.indices, [](std::int32_t item) { return item == 4; });
  X.offsets = {0};
  const Csr all = testing::random_csr(120, 30, 0.2, false, 11);
  for (std::int64_t u = 0; u < 120; ++u) {
    std::int64_t size = all.view().row_size(u);
    for (const std::int32_t item : all.view().row(u)) size -= item == 4 ? 1 : 0;
    X.offsets.push_back(X.offsets.back() + size);
  }
  X.values.clear();
  model.W = make_weights(X.view(), {.alpha = 2.5});
  const NeighbourProblem problem = make_neighbour_problem(X.view(), model.W, model.options, 1);
  model.B = rows_of(fit_neighbours(problem, std::vector{saved_neighbours}, 30, {}).solutions[0].columns);
  EXPECT_EQ(model.check().missing, 0);
  // Anything else is above the minimum of 0.
  for (std::int64_t e = 0; e < model.B.entries(); ++e) EXPECT_NE(model.B.indices[e], 4);
}

}  // namespace
}  // namespace poise
