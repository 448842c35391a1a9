#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/closed_form.hpp"
#include "poise/solver/row_entries.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// min over U, V (n x d) of || sqrt(W) o (X - X U V') ||^2 + R(U, V): the paper's models 1, 3 and 4
/// (equations 2 and 3), with what every step needs.
struct AsymmetricProblem {
  CsrView X;
  const Weights* W = nullptr;
  Regularizer regularizer = Regularizer::weight_decay;
  double lambda = 0;
  RowEntries users;       ///< of X and C, users x items
  RowEntries items;       ///< the same by items
  Csr own_transpose;      ///< of X, where the entries of C are others than its own
  std::vector<Pin> pins;  ///< of all that every step reads

  /// X', n x m.
  [[nodiscard]] CsrView X_transposed() const {
    return own_transpose.rows > 0 ? own_transpose.view() : items.view();
  }
  [[nodiscard]] bool data_metric() const { return regularizer == Regularizer::data_weight_decay; }
  [[nodiscard]] bool dropout() const { return regularizer == Regularizer::dropout; }
};

/// X, W and the backend must outlive the result. `processes` that all make the same one hold its entries
/// once a host.
AsymmetricProblem make_asymmetric_problem(CsrView X, const Weights& W, Regularizer regularizer, double lambda,
                                          Backend& backend, const Execution& execution,
                                          Processes* processes = nullptr);

/// Factors and what is kept with them: X U V' does not change when U -> U T, V -> V T^-T.
struct AsymmetricPoint {
  Resident<float> U;
  Resident<float> V;
  Resident<float> Z = {};       ///< X U
  Matrix<double> Z_gram = {};   ///< Z' diag(a) Z
  Resident<float> scores = {};  ///< z_u . v_i for each of the problem's entries, by users; one row

  [[nodiscard]] std::int64_t rank() const { return U.cols(); }
};

/// The only row of a matrix.
inline std::span<const float> only_row(const Resident<float>& matrix) {
  return {matrix.view().data, static_cast<std::size_t>(matrix.cols())};
}
inline std::span<float> only_row(Resident<float>& matrix) {
  return {matrix.view().data, static_cast<std::size_t>(matrix.cols())};
}

/// Fills Z, its Gram matrix and the scores from U and V. 4 nnz d + m d^2 operations.
void complete(const AsymmetricProblem& problem, AsymmetricPoint& point, Backend& backend);

}  // namespace poise
