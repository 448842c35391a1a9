#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/scorer.hpp"

namespace poise {

/// The low-rank autoencoder: scores = x_u U V' with U and V n x d (the paper's models 1, 3 and 4). A history
/// counts as 0/1; its values are not read.
class Asymmetric : public Scorer {
 public:
  /// `owner` keeps the memory of both alive (a file mapping).
  Asymmetric(MatrixView<const float> U, MatrixView<const float> V, std::shared_ptr<const void> owner)
      : U_(U), V_(V), owner_(std::move(owner)) {
    assert(U.rows == V.rows && U.cols == V.cols);
  }
  /// Takes over both matrices.
  Asymmetric(Matrix<float> U, Matrix<float> V);

  [[nodiscard]] std::int64_t items() const override { return V_.rows; }
  [[nodiscard]] std::int64_t rank() const { return V_.cols; }
  [[nodiscard]] MatrixView<const float> U() const { return U_; }
  [[nodiscard]] MatrixView<const float> V() const { return V_; }

  /// O(d) for each history item and each item of the catalogue.
  [[nodiscard]] ScoreRows on(Backend& backend, const Execution& execution) const override;
  [[nodiscard]] double operations(CsrView histories) const override;
  /// U_j . V_i for every item j of the history.
  [[nodiscard]] std::vector<double> contributions(std::span<const std::int32_t> history,
                                                  std::span<const float> values,
                                                  std::span<const std::int32_t> disliked,
                                                  std::int32_t item) const override;
  void similarities(std::span<const std::int32_t> items, MatrixView<float> near) const override;

 private:
  MatrixView<const float> U_;
  MatrixView<const float> V_;
  std::shared_ptr<const void> owner_;
};

}  // namespace poise
