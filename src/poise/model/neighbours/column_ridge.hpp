#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/linalg/cholesky.hpp"
#include "poise/linalg/large_pages.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/neighbours/problem.hpp"

namespace poise {

/// What is known of a saved column on its own support, all in float64.
struct NeighbourFigures {
  double observed = 0;   ///< the sum of W in the column
  double along = 0;      ///< beta'c
  double explained = 0;  ///< beta'c + beta'rho: observed - objective
  double excess = 0;     ///< a bound on how far the objective is above its minimum on this support
};

/// Solves columns, one after the other, on one thread.
class ColumnRidge {
 public:
  ColumnRidge(const NeighbourProblem& problem, std::int64_t k);

  /// H_SS and c_S of column j, from G on (S, j) as GramBlocks has it; weights of C add the rows of the
  /// column's users.
  template <class T>
  void assemble(std::int32_t j, std::span<const std::int32_t> support, std::span<const T> G);

  /// The Cholesky factor of H_SS. Error{numerical} where it is singular to float64. k^3 / 3 operations.
  void factor(std::int32_t j);

  /// The column of the model with the first values.size() neighbours, which the leading block of the factor
  /// solves, and what is known of it as it is rounded. With e close to H^-1 rho and r = rho - He,
  ///
  ///     excess = rho'H^-1 rho <= rho'e + e'r + r'Lambda^-1 r,
  ///
  /// for a factor of any quality.
  NeighbourFigures solve(std::span<float> values);

  /// What is known of these entries, whoever made them.
  NeighbourFigures check(std::span<const float> values);

  /// The same without the factor: the excess is at most rho'Lambda^-1 rho, since H >= Lambda.
  NeighbourFigures measure(std::span<const float> values);

 private:
  void add_weights(std::int32_t j, std::span<const std::int32_t> support);
  [[nodiscard]] MatrixView<double> view(std::vector<double, LargePages<double>>& matrix) const {
    return {matrix.data(), k_, k_, cholesky::stride_of(k_)};
  }
  /// rho = c - H beta for the entries as they are rounded, and the bound on the excess.
  double residual(std::span<const float> values);
  void set_residual(std::span<const float> values);
  [[nodiscard]] NeighbourFigures figures_of(std::int64_t k, double excess) const;

  const NeighbourProblem& problem_;
  std::int64_t k_;
  using Vector = std::vector<double, LargePages<double>>;
  Vector H_;  // k x k, the upper triangle
  Vector U_;  // its factor
  Vector c_;
  Vector forward_;  // U'^-1 c
  Vector l_;        // Lambda_SS
  Vector x_;
  Vector beta_;
  Vector rho_;
  Vector e_;
  Vector He_;
  double observed_ = 0;
  bool nothing_ = false;              // c = 0
  std::vector<std::int32_t> place_;   // of an item in the support, or -1; where there are weights
  std::vector<std::int32_t> common_;  // of a user and the support
};

}  // namespace poise
