// Updates that go on from what has lost its digits: the certificate sees it, and the model is trained again.
#include "poise/train/update.hpp"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using ::testing::HasSubstr;
using testing::random_csr;

/// X, and the same with further users.
Merged merged_rows(const Csr& X, std::int64_t users) {
  const Csr more = random_csr(users, X.cols, 0.2, false, 9);
  Merged merged;
  merged.dataset.train = X;
  Csr& Y = merged.dataset.train;
  for (std::int64_t u = 0; u < more.rows; ++u) {
    Y.indices.insert(Y.indices.end(), more.view().row(u).begin(), more.view().row(u).end());
    Y.offsets.push_back(Y.entries());
    ++Y.rows;
  }
  return merged;
}

/// B with this much relative noise in its entries, as errors of many updates would leave it.
FullRank worn(const FullRank& model, double noise) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  Matrix<float> B(model.items(), model.items());
  for (std::int64_t j = 0; j < B.rows(); ++j) {
    for (std::int64_t i = 0; i < B.cols(); ++i)
      B(j, i) = static_cast<float>(model.dense()(j, i) * (1 + noise * normal(random)));
  }
  return FullRank(std::move(B));
}

TEST(Update, RoundingThatHasAddedUpIsSeenAndTrainedAgain) {
  const auto backend = testing::tested_backend(2);
  const Execution execution{.threads = 2};
  const UpdateOptions options{.memory_limit = std::uint64_t{1} << 32U};
  const Csr X = random_csr(200, 60, 0.15, false, 4);
  Dataset data;
  data.train = X;
  const Merged merged = merged_rows(X, 3);
  for (const bool zero_diagonal : {false, true}) {
    ModelParameters parameters;
    parameters.family = Family::full_rank;
    parameters.lambda = 5;
    parameters.zero_diagonal = zero_diagonal;
    const auto trained = [&](const Merged& of) {
      return train_again(parameters, of, {}, options, *backend, execution);
    };
    const double objective = trained(merged).trained.objective;
    for (const double noise : {0.0, 1e-6, 1e-2}) {
      SCOPED_TRACE(noise);
      Updated old = trained(merged_rows(X, 0));
      const auto& model = dynamic_cast<const FullRank&>(*old.trained.model);
      const Updated updated = update_full_rank(worn(model, noise), parameters, std::move(*old.kept), data,
                                               merged, options, *backend, execution);
      EXPECT_TRUE(updated.trained.converged);
      EXPECT_LE(updated.trained.certificate.worst_column, 1e-6);
      EXPECT_NEAR(updated.trained.objective, objective, 1e-6 * objective);
      ASSERT_TRUE(updated.kept.has_value());
      if (noise < 1e-3) {
        EXPECT_EQ(updated.refitted, "");
        EXPECT_EQ(updated.rank, 3);
      } else {
        EXPECT_THAT(updated.refitted, HasSubstr("rounding has added up"));
        EXPECT_DOUBLE_EQ(updated.trained.objective, objective);
      }
    }
  }
}

}  // namespace
}  // namespace poise
