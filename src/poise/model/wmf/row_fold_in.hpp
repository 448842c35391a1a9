#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/wmf/lambda.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// New rows of a weighted matrix factorization whose other factor Z (p x d) is kept: users from V, or items
/// from U. The same systems as in training, solved to float32's precision.
class RowFoldIn {
 public:
  /// `column_weights`: one for each row of Z (b for users, a for items); empty: all 1. p d^2 operations.
  RowFoldIn(MatrixView<const float> Z, std::span<const float> column_weights);

  /// Row r of y (k x d) minimizes sum_j W_rj (x_rj - z_j . y)^2 + lambda_r ||y||^2, lambda_r from the row's
  /// size, in the basis of rotated(), which the backend reads from `rotated`. `rows` is k x p; `W` weighs its
  /// entries, W.a being the weights of these rows and W.b the column weights. A row does not depend on the
  /// others.
  void fold_in(Backend& backend, In<float> rotated, CsrView rows, const Weights& W, const WmfLambda& lambda,
               Out<float> y, const Execution& execution) const;
  /// The same in the basis of Z itself, what training would hold. Runs on the calling thread.
  [[nodiscard]] Matrix<float> fold_in_original(CsrView rows, const Weights& W, const WmfLambda& lambda) const;

  /// Z in the eigenbasis of Z' diag(column weights) Z, and the eigenvalues.
  [[nodiscard]] MatrixView<const float> rotated() const { return rotated_.view(); }
  [[nodiscard]] std::span<const double> sigma() const { return sigma_; }

 private:
  Matrix<float> rotated_;
  std::vector<double> sigma_;
  Matrix<double> E_;
};

}  // namespace poise
