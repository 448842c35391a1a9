#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/scorer.hpp"

namespace poise {

/// The full-rank autoencoder: scores = x_u B with B (n x n), the paper's model 5, EASE and EDLAE. Row j of B
/// is the addition of a history's item j to the scores of all items. Dense, or sparse if only the largest
/// entries of each column were kept. A history counts as 0/1; its values are not read.
class FullRank : public Scorer {
 public:
  /// Dense B; `owner` keeps its memory alive (a file mapping, or a Matrix).
  FullRank(MatrixView<const float> B, std::shared_ptr<const void> owner)
      : dense_(B), owner_(std::move(owner)) {
    assert(B.rows == B.cols);
  }
  /// Dense B, taken over.
  explicit FullRank(Matrix<float> B) : FullRank(std::make_shared<const Matrix<float>>(std::move(B))) {}
  /// Sparse B by rows, with values; `owner` as above.
  FullRank(CsrView B, std::shared_ptr<const void> owner) : sparse_(B), owner_(std::move(owner)) {
    assert(B.rows == B.cols && B.values.size() == B.indices.size());
  }
  /// Sparse B, taken over.
  explicit FullRank(Csr B) : FullRank(std::make_shared<const Csr>(std::move(B))) {}

  [[nodiscard]] std::int64_t items() const override { return sparse_ ? sparse_->rows : dense_.rows; }
  /// The sum of the history's rows of B: O(n) for each history item, or O(entries of its row) where B is
  /// sparse, and O(n) for each user.
  [[nodiscard]] ScoreRows on(Backend& backend, const Execution& execution) const override;
  [[nodiscard]] double operations(CsrView histories) const override;
  /// B_ji for every item j of the history.
  [[nodiscard]] std::vector<double> contributions(std::span<const std::int32_t> history,
                                                  std::span<const float> values,
                                                  std::span<const std::int32_t> disliked,
                                                  std::int32_t item) const override;
  void similarities(std::span<const std::int32_t> items, MatrixView<float> near) const override;

  /// B_ji: the addition of history item j to the score of item i.
  [[nodiscard]] float contribution(std::int64_t j, std::int64_t i) const;
  /// Empty when B is sparse.
  [[nodiscard]] MatrixView<const float> dense() const { return dense_; }
  /// Null when B is dense.
  [[nodiscard]] const CsrView* sparse() const { return sparse_ ? &*sparse_ : nullptr; }

 private:
  explicit FullRank(const std::shared_ptr<const Matrix<float>>& B) : FullRank(B->view(), B) {}
  explicit FullRank(const std::shared_ptr<const Csr>& B) : FullRank(B->view(), B) {}

  MatrixView<const float> dense_;
  std::optional<CsrView> sparse_;
  std::shared_ptr<const void> owner_;
};

/// Keeps the `per_column` entries of each column of B that are largest in size (ties: lower row), as CSR by
/// rows; zeros are never kept. Memory beyond B: twice the result, and some columns for each thread. The
/// result does not depend on the threads. Error{usage} for per_column < 1.
Csr keep_top(MatrixView<const float> B, std::int64_t per_column, int threads);

}  // namespace poise
