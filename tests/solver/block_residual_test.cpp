#include "poise/solver/block_residual.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "poise/backend/resident.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/tested_backend.hpp"

namespace poise {
namespace {

struct Problem {
  Csr X;
  Csr support;
  Weights W;
  std::vector<std::int32_t> items;
  Matrix<float> beta;
};

/// More columns than a block holds, users without items, weights a, b and C, the latter also beside X.
Problem random_problem(bool weighted) {
  std::mt19937 random(7);
  Problem problem;
  problem.X = {.rows = 301, .cols = 160, .offsets = {0}};
  problem.support = problem.X;
  for (std::int64_t u = 0; u < problem.X.rows; ++u) {
    for (std::int32_t i = 0; i < problem.X.cols && u % 50 != 3; ++i) {
      const bool has = random() % 100 < 12;
      if (has) problem.X.indices.push_back(i);
      if (has || random() % 100 < 3) problem.support.indices.push_back(i);
    }
    problem.X.offsets.push_back(problem.X.entries());
    problem.support.offsets.push_back(problem.support.entries());
  }
  std::uniform_real_distribution<float> factor(0.5F, 2.0F);
  problem.W.support = problem.support.view();
  if (weighted) {
    for (std::int64_t u = 0; u < problem.X.rows; ++u) problem.W.a.push_back(factor(random));
    for (std::int64_t i = 0; i < problem.X.cols; ++i) problem.W.b.push_back(factor(random));
    for (std::int64_t e = 0; e < problem.support.entries(); ++e) problem.W.c.push_back(factor(random) - 1);
  }
  std::normal_distribution<float> entry(0, 0.2F);
  problem.beta = Matrix<float>(130, problem.X.cols);
  for (std::int64_t k = 0; k < problem.beta.rows(); ++k) {
    problem.items.push_back(static_cast<std::int32_t>((7 * k) % problem.X.cols));
    for (float& value : problem.beta.row(k)) value = entry(random);
  }
  return problem;
}

class BlockResidual : public ::testing::TestWithParam<bool> {};

TEST_P(BlockResidual, EqualsTheFloat64One) {
  const Problem given = random_problem(GetParam());
  std::vector<double> l;
  for (std::int64_t i = 0; i < given.X.cols; ++i) l.push_back(1 + static_cast<double>(i % 5));
  const ColumnProblem problem = make_column_problem(given.X.view(), given.W, l);
  const WeightedTranspose users_of = weighted_transpose(problem);
  const std::int64_t count = given.beta.rows();
  Matrix<double> exact(count, given.X.cols);
  std::vector<ColumnFigures> exact_figures(count);
  column_residuals(problem, given.items, given.beta.view(), exact.view(), exact_figures, {.threads = 1});
  std::vector<double> bytes_of_one_thread;
  for (const int threads : {1, 2}) {
    const auto backend = testing::tested_backend(threads);
    Matrix<double> rho(count, given.X.cols);
    std::vector<ColumnFigures> figures(count);
    std::vector<ColumnFigures> figures_alone(count);
    std::vector<double> explained(count);
    const Execution execution{.threads = threads};
    block_residuals(problem, users_of.view(), given.items, given.beta.view(), rho.view(), figures, *backend,
                    execution);
    block_residuals(problem, users_of.view(), given.items, given.beta.view(), {}, figures_alone, *backend,
                    execution);
    backend->column_form(problem.X, users_of.view(), given.items, Lent(*backend, given.beta).view(),
                         explained, {});
    std::vector<double> all;
    for (std::int64_t k = 0; k < count; ++k) {
      double slope = 0;
      for (std::int64_t j = 0; j < given.X.cols; ++j) {
        EXPECT_NEAR(rho(k, j), exact(k, j), 1e-4) << k << ", " << j;
        slope += exact(k, j) * static_cast<double>(given.beta(k, j));
      }
      EXPECT_NEAR(figures[k].objective, exact_figures[k].objective, 1e-6 * exact_figures[k].objective);
      EXPECT_NEAR(figures[k].observed, exact_figures[k].observed, 1e-6 * exact_figures[k].observed);
      EXPECT_EQ(figures[k].objective, figures_alone[k].objective);
      // objective = observed - beta'c - beta'rho, for any beta.
      EXPECT_NEAR(figures[k].observed - explained[k] - slope, exact_figures[k].objective,
                  1e-6 * exact_figures[k].objective);
      all.insert(all.end(), rho.row(k).begin(), rho.row(k).end());
      all.push_back(figures[k].objective);
    }
    if (threads == 1) bytes_of_one_thread = all;
    EXPECT_EQ(all, bytes_of_one_thread);
  }
}

/// The objective is quadratic, so its central difference is its gradient -2 rho whatever the step.
TEST_P(BlockResidual, IsMinusHalfTheGradient) {
  const Problem given = random_problem(GetParam());
  const ColumnProblem problem =
      make_column_problem(given.X.view(), given.W, std::vector<double>(given.X.cols, 3.0));
  const std::vector<std::int32_t> item = {17};
  Matrix<double> rho(1, given.X.cols);
  std::vector<ColumnFigures> figures(1);
  column_residuals(problem, item, given.beta.view().block(0, 1), rho.view(), figures, {.threads = 1});
  for (std::int64_t j = 0; j < given.X.cols; j += 9) {
    double difference = 0;
    for (const double sign : {1.0, -1.0}) {
      Matrix<float> moved(1, given.X.cols);
      std::copy_n(given.beta.row(0).begin(), given.X.cols, moved.row(0).begin());
      moved(0, j) += static_cast<float>(sign * 0.25);
      column_residuals(problem, item, moved.view(), {}, figures, {.threads = 1});
      difference += sign * figures[0].objective;
    }
    EXPECT_NEAR(difference / 0.5, -2 * rho(0, j), 1e-4 * (1 + std::abs(rho(0, j)))) << j;
  }
}

INSTANTIATE_TEST_SUITE_P(Weights, BlockResidual, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Uneven" : "None"; });

}  // namespace
}  // namespace poise
