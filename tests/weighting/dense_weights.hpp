#pragma once

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "poise/weighting/weighting.hpp"

namespace poise::testing {

/// The weights as full float64 matrices, and the background a b' they stand on.
struct DenseWeights {
  Eigen::MatrixXd W;
  Eigen::MatrixXd background;
};

/// 0/1 on the support.
inline Eigen::ArrayXXd dense_support(CsrView matrix) {
  Eigen::ArrayXXd result = Eigen::ArrayXXd::Zero(matrix.rows, matrix.cols);
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    for (const std::int32_t i : matrix.row(u)) result(u, i) = 1;
  }
  return result;
}

inline Eigen::ArrayXXd dense_values(CsrView matrix) {
  Eigen::ArrayXXd result = dense_support(matrix);
  if (matrix.values.empty()) return result;
  for (std::int64_t u = 0; u < matrix.rows; ++u) {
    for (std::int64_t k = 0; k < matrix.row_size(u); ++k)
      result(u, matrix.row(u)[k]) = matrix.row_values(u)[k];
  }
  return result;
}

/// What the schemes say, written over full matrices.
inline DenseWeights dense_weights(CsrView X, const WeightingOptions& options) {
  const Eigen::ArrayXXd has = dense_support(X);
  const Eigen::ArrayXXd r = dense_values(X);
  const double alpha = options.alpha;
  const double clip = options.clip;
  Eigen::ArrayXXd background = Eigen::ArrayXXd::Ones(X.rows, X.cols);
  Eigen::ArrayXXd on = Eigen::ArrayXXd::Constant(X.rows, X.cols, alpha);
  const Eigen::ArrayXd items_of = has.rowwise().sum();
  const Eigen::ArrayXd users_of = has.colwise().sum().transpose();
  if (options.scheme == Scheme::none) on.setOnes();
  if (options.scheme == Scheme::linear) on = 1 + alpha * r;
  if (options.scheme == Scheme::log) on = 1 + alpha * (1 + r / options.epsilon).log();
  if (options.scheme == Scheme::column) on = alpha * r;
  if (options.scheme == Scheme::user_oriented)
    background.colwise() = (items_of / items_of.mean()).max(1 / clip).min(clip);
  if (options.scheme == Scheme::item_oriented) {
    const Eigen::ArrayXd without = static_cast<double>(X.rows) - users_of;
    background.rowwise() = (without / without.mean()).max(1 / clip).min(clip).transpose();
  }
  if (options.scheme == Scheme::inverse_popularity) {
    const Eigen::ArrayXd factor = (users_of / users_of.maxCoeff()).pow(-options.gamma).min(clip);
    on.rowwise() *= factor.transpose();
  }
  return {(has > 0).select(on, background).matrix(), background.matrix()};
}

/// W as the library stores it, written out.
inline DenseWeights written_out(const Weights& weights) {
  const CsrView support = weights.support;
  DenseWeights result{Eigen::MatrixXd(support.rows, support.cols),
                      Eigen::MatrixXd(support.rows, support.cols)};
  for (std::int64_t u = 0; u < support.rows; ++u) {
    for (std::int64_t i = 0; i < support.cols; ++i)
      result.background(u, i) = weights.a_of(u) * weights.b_of(i);
  }
  result.W = result.background;
  if (weights.c.empty()) return result;
  for (std::int64_t u = 0; u < support.rows; ++u) {
    for (std::int64_t k = support.offsets[u]; k < support.offsets[u + 1]; ++k)
      result.W(u, support.indices[k]) *= 1.0 + weights.c[k];
  }
  return result;
}

/// W and its background agree up to the rounding of a, b and C to float32; the bounds hold and are attained.
inline void expect_same(const Weights& weights, const DenseWeights& expected) {
  const DenseWeights stored = written_out(weights);
  constexpr double rounding = 2e-7;
  double lowest = 1;
  double highest = 1;
  for (Eigen::Index u = 0; u < expected.W.rows(); ++u) {
    for (Eigen::Index i = 0; i < expected.W.cols(); ++i) {
      const double background = expected.background(u, i);
      ASSERT_NEAR(stored.background(u, i), background, rounding * background) << u << ", " << i;
      ASSERT_NEAR(stored.W(u, i), expected.W(u, i), rounding * (expected.W(u, i) + background))
          << u << ", " << i;
      lowest = std::min(lowest, expected.W(u, i) / background);
      highest = std::max(highest, expected.W(u, i) / background);
    }
  }
  EXPECT_NEAR(weights.lowest, lowest, rounding);
  EXPECT_NEAR(weights.highest, highest, rounding * highest);
  for (const float C : weights.c) {
    ASSERT_GT(1.0 + C, 0);
    ASSERT_LE(weights.lowest, 1.0 + C);
    ASSERT_GE(weights.highest, 1.0 + C);
  }
}

}  // namespace poise::testing
