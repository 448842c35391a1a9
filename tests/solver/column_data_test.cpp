#include "poise/solver/column_data.hpp"

#include <gtest/gtest.h>

#include "poise/backend/resident.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

/// What several readers ask for is made once and is what each of them would have made.
TEST(ColumnData, MadeOnce) {
  const Csr X = testing::random_csr(40, 15, 0.3, true, 3);
  const Csr other = testing::random_csr(40, 15, 0.2, true, 5);
  const auto backend = testing::tested_backend(2);
  const Execution execution{.threads = 2};
  std::vector<std::int32_t> items(X.cols);
  for (std::int32_t i = 0; i < X.cols; ++i) items[i] = i;
  const Matrix<float> beta = testing::random_matrix<float>(X.cols, X.cols, 7);
  const Lent there(*backend, beta);
  for (const Weights& W :
       {make_weights(X.view(), {.alpha = 3}), make_weights(X.view(), {.scheme = Scheme::column}),
        weights_on_support(X.view(), other.view())}) {
    const ColumnProblem problem = make_column_problem(X.view(), W, std::vector<double>(X.cols, 2.0));
    const ColumnData data(problem, *backend, execution);
    const CsrView users_of = data.users_of();
    if (problem.on_support_of_X()) {
      EXPECT_EQ(users_of.indices.data(), problem.columns.view().indices.data());
    }
    const std::vector<double> explained = data.explained(items, there.view());
    const std::vector<double>& observed = data.observed();
    ASSERT_EQ(std::ssize(observed), X.cols);
    double sum = 0;
    for (const double each : observed) sum += each;
    EXPECT_NEAR(sum, W.observed, 1e-5 * W.observed);
    EXPECT_EQ(data.shared_system().users_of().indices.data(), users_of.indices.data());
    EXPECT_EQ(&data.shared_system(), &data.shared_system());
    EXPECT_EQ(data.users_of().values.data(), users_of.values.data());
    EXPECT_EQ(data.observed().data(), observed.data());
    EXPECT_EQ(data.explained(items, there.view()), explained);
  }
}

}  // namespace
}  // namespace poise
