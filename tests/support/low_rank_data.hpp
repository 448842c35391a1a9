#pragma once

#include <algorithm>
#include <random>

#include <Eigen/Dense>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/dense_oracle.hpp"

namespace poise::testing {

/// Groups of users with their items, and the shapes that break solvers: an item that nobody has, one that
/// everybody has, items with one user, users with one item and with nothing.
inline Csr grouped_matrix(std::int64_t users, std::int32_t items, unsigned seed) {
  std::mt19937 random(seed);
  Csr X{.rows = users, .cols = items, .offsets = {0}};
  for (std::int64_t u = 0; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      bool has = random() % 100 < (i % 4 == u % 4 ? 55U : 8U);
      if (i == 1) has = false;
      if (i == 2) has = u != 3;
      if (i == 5) has = u == 7;
      if (u == 3) has = false;
      if (u == 4) has = i == 6;
      if (has) X.indices.push_back(i);
    }
    X.offsets.push_back(X.entries());
  }
  return X;
}

/// The first users and items of X.
inline Csr leading_part(const Csr& X, std::int64_t users, std::int64_t items) {
  Csr part{.rows = users, .cols = items, .offsets = {0}};
  for (std::int64_t u = 0; u < users; ++u) {
    for (const std::int32_t i : X.view().row(u)) {
      if (i < items) part.indices.push_back(i);
    }
    part.offsets.push_back(part.entries());
  }
  return part;
}

/// A factor over so many items, 0 for further ones.
inline Matrix<float> over_items(const Matrix<float>& factor, std::int64_t items) {
  Matrix<float> result(items, factor.cols());
  for (std::int64_t i = 0; i < factor.rows(); ++i) std::ranges::copy(factor.row(i), result.row(i).begin());
  return result;
}

/// Weights that differ in every user, item and entry; some below the background, and some where X has
/// nothing. `support` is filled and must outlive the result.
inline Weights uneven_weights(const Csr& X, Csr& support, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.3F, 2.0F);
  support = {.rows = X.rows, .cols = X.cols, .offsets = {0}};
  for (std::int64_t u = 0; u < X.rows; ++u) {
    const auto row = X.view().row(u);
    for (std::int32_t i = 0; i < X.cols; ++i) {
      const bool in_X = std::binary_search(row.begin(), row.end(), i);
      if (!(in_X ? random() % 10 != 0 : random() % 20 == 0)) continue;
      support.indices.push_back(i);
      support.values.push_back(random() % 4 == 0 ? 0.2F * uniform(random) : 3 * uniform(random));
    }
    support.offsets.push_back(support.entries());
  }
  std::vector<float> a(X.rows);
  std::vector<float> b(X.cols);
  for (float& value : a) value = uniform(random);
  for (float& value : b) value = uniform(random);
  return weights_on_support(X.view(), support.view(), a, b);
}

inline Eigen::MatrixXd to_dense(MatrixView<const float> matrix) {
  Eigen::MatrixXd dense(matrix.rows, matrix.cols);
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    for (std::int64_t c = 0; c < matrix.cols; ++c) dense(r, c) = matrix(r, c);
  }
  return dense;
}

inline Matrix<float> to_float(const Eigen::MatrixXd& dense) {
  Matrix<float> matrix(dense.rows(), dense.cols());
  for (std::int64_t r = 0; r < matrix.rows(); ++r) {
    for (std::int64_t c = 0; c < matrix.cols(); ++c) matrix(r, c) = static_cast<float>(dense(r, c));
  }
  return matrix;
}

}  // namespace poise::testing
