#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/scorer.hpp"
#include "poise/model/wmf/lambda.hpp"
#include "poise/weighting/fold_in.hpp"

namespace poise {

/// The data of training that folding in a user needs besides V: the contents of a model file.
struct WmfTraining {
  WeightingOptions weighting;
  WmfLambda lambda;
  std::int64_t users = 0;                ///< m
  std::vector<std::int64_t> item_users;  ///< |S_i| of each item
};

/// New rows of a weighted matrix factorization whose other factor Z (p x d) is kept: users from V, or items
/// from U. The same systems as in training, solved to float32's precision.
class RowFoldIn {
 public:
  /// `column_weights`: one for each row of Z (b for users, a for items); empty: all 1. p d^2 operations.
  RowFoldIn(MatrixView<const float> Z, std::span<const float> column_weights);

  /// Row r of y (k x d) minimizes sum_j W_rj (x_rj - z_j . y)^2 + lambda_r ||y||^2, lambda_r from the row's
  /// size, in the basis of rotated(), which the backend reads from `rotated`. `rows` is k x p; `W` weighs its
  /// entries, and perhaps others, W.a being the weights of these rows and W.b the column weights. A row does
  /// not depend on the others.
  void fold_in(Backend& backend, In<float> rotated, CsrView rows, const Weights& W, const WmfLambda& lambda,
               Out<float> y, const Execution& execution) const;
  /// The same in the basis of Z itself, as in training. Runs on the calling thread.
  [[nodiscard]] Matrix<float> fold_in_original(CsrView rows, const Weights& W, const WmfLambda& lambda) const;

  /// Z in the eigenbasis of Z' diag(column weights) Z, and the eigenvalues.
  [[nodiscard]] MatrixView<const float> rotated() const { return rotated_.view(); }
  [[nodiscard]] std::span<const double> sigma() const { return sigma_; }

 private:
  Matrix<float> rotated_;
  std::vector<double> sigma_;
  Matrix<double> E_;
};

/// Weighted matrix factorization as a scorer (the paper's model 2). A user is folded in by solving the row of
/// that user with V fixed, exactly as in training: a_u and lambda_u from the history's size, w from its own
/// values, dislikes with target 0 and their weight; then scores = u . V.
class Wmf : public Scorer {
 public:
  /// `owner` keeps V's memory alive (a file mapping). n d^2 operations, and a rotated copy of V.
  Wmf(MatrixView<const float> V, std::shared_ptr<const void> owner, WmfTraining training);
  /// V taken over.
  Wmf(Matrix<float> V, WmfTraining training)
      : Wmf(std::make_shared<const Matrix<float>>(std::move(V)), std::move(training)) {}

  [[nodiscard]] std::int64_t items() const override { return V_.rows; }
  [[nodiscard]] std::int64_t rank() const { return V_.cols; }
  [[nodiscard]] MatrixView<const float> V() const { return V_; }
  [[nodiscard]] const WmfTraining& training() const { return training_; }

  /// Users in float32's precision. Error{input} for values that the weighting cannot take.
  [[nodiscard]] ScoreRows on(Backend& backend, const Execution& execution) const override;
  /// The factors of users with these histories, as training would hold them: score = fold_in(history) V'.
  [[nodiscard]] Matrix<float> fold_in(const UserRows& histories) const;
  [[nodiscard]] double operations(CsrView histories) const override;
  /// score_i = v_i' H_u^-1 sum_j w_uj v_j, so history item j adds w_uj v_i' H_u^-1 v_j. In float64; |history|
  /// d^2 + d^3 / 3 operations.
  [[nodiscard]] std::vector<double> contributions(std::span<const std::int32_t> history,
                                                  std::span<const float> values,
                                                  std::span<const std::int32_t> disliked,
                                                  std::int32_t item) const override;
  /// The cosine of the items' factors; 0 where one of them is 0.
  void similarity(std::int32_t item, std::span<float> scores) const override;
  void similarities(std::span<const std::int32_t> items, MatrixView<float> near) const override;

 private:
  Wmf(const std::shared_ptr<const Matrix<float>>& V, WmfTraining training)
      : Wmf(V->view(), V, std::move(training)) {}

  MatrixView<const float> V_;
  std::shared_ptr<const void> owner_;
  WmfTraining training_;
  FoldInWeighting weighting_;
  RowFoldIn rows_;
};

}  // namespace poise
