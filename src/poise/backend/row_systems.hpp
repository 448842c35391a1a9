#pragma once

#include <cstdint>
#include <span>

#include "poise/backend/device.hpp"
#include "poise/linalg/csr.hpp"

namespace poise {

/// Least squares whose rows decouple: for shared factors Z (p x d, row z_u) row i of the solution minimizes
///
///     sum_u a_u b_i (1 + C_ui) (x_ui - z_u . y)^2 + lambda_i y'y.
///
/// The caller has rotated Z into the basis in which Z' diag(a) Z = diag(sigma) and the regularization is a
/// multiple of I (for v'Rv: the generalized eigenbasis E, E'RE = I, with v = E y), so that system i is
///
///     H_i y = g_i,   H_i = D_i + sum_u c_ui z_u z_u',   D_i = diag(b_i sigma + lambda_i),   g_i = sum_u w_ui
///     z_u.
///
/// D_i is the system at C = 0: lo D_i <= H_i <= hi D_i, and a preconditioner that is a division. Coordinates
/// where D_i is 0 are left out: y is 0 there.
struct RowSystems {
  In<float> factors;                     ///< p x d
  std::span<const double> sigma;         ///< d
  std::span<const float> b = {};         ///< one for each row; empty: all 1
  double lambda = 0;                     ///< where `lambdas` is empty
  std::span<const double> lambdas = {};  ///< one for each row
  CsrView entries;                       ///< rows x p; its values are not read
  std::span<const float> c = {};         ///< parallel to entries.indices; empty: all 0
  std::span<const float> w = {};         ///< likewise
  double lowest = 1;                     ///< lo = min(1, min(1 + C))
  double highest = 1;                    ///< hi; only the choice of a route depends on it

  [[nodiscard]] double b_of(std::int64_t row) const { return b.empty() ? 1.0 : b[row]; }
  [[nodiscard]] double lambda_of(std::int64_t row) const { return lambdas.empty() ? lambda : lambdas[row]; }
};

/// A row is solved when r'D^-1 r / lo <= relative * (the weight it explains) + absolute.
struct RowTolerance {
  double relative = 1e-6;
  double absolute = 0;
};

enum class RowRoute { counted, conjugate_gradients, direct };

/// The outcome of a solve. A row y explains 2 y'g - y'Hy of its observed weight sum_u w_ui x_ui.
struct RowsSolved {
  double explained_before = 0;       ///< by the start, over all rows; products in float32, sums in float64
  double gain = 0;                   ///< the increase by the solve, from the recurrences
  double excess_before = 0;          ///< r'D^-1 r / lo of the start: the gain is at most this
  std::int64_t most_iterations = 0;  ///< of a row; the direct route counts as 1
  std::int64_t iterations = 0;       ///< over all rows
  std::int64_t direct_rows = 0;

  [[nodiscard]] double explained() const { return explained_before + gain; }
};

/// The weight that the rows of y explain and the gain that is still possible, in float64.
struct RowsChecked {
  double explained = 0;
  double excess = 0;  ///< r'M^-1 r / lo, summed over the rows
};

}  // namespace poise
