#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/recommend/scorer.hpp"

namespace poise {

/// The full-rank autoencoder: scores = x_u B with B (n x n), the paper's model 5, EASE and EDLAE. Row j of B
/// is what item j of a history adds to the scores of all items. Dense, or sparse where only the largest
/// entries of each column were kept.
class FullRank : public Scorer {
 public:
  /// Dense B; `owner` keeps its memory alive (a file mapping, or a Matrix).
  FullRank(MatrixView<const float> B, std::shared_ptr<const void> owner)
      : dense_(B), owner_(std::move(owner)) {}
  /// Sparse B by rows.
  explicit FullRank(Csr B) : sparse_(std::move(B)) {}

  [[nodiscard]] std::int64_t items() const override { return sparse_ ? sparse_->rows : dense_.rows; }
  void score(CsrView histories, std::int64_t first, MatrixView<float> scores) const override;

  /// B_ji: what history item j adds to the score of item i.
  [[nodiscard]] float contribution(std::int64_t j, std::int64_t i) const;
  [[nodiscard]] MatrixView<const float> dense() const { return dense_; }
  /// Null when B is dense.
  [[nodiscard]] const Csr* sparse() const { return sparse_ ? &*sparse_ : nullptr; }

 private:
  MatrixView<const float> dense_;
  std::optional<Csr> sparse_;
  std::shared_ptr<const void> owner_;
};

/// Keeps the `per_column` entries of each column of B that are largest in size (ties: lower row), as CSR by
/// rows.
Csr keep_top(MatrixView<const float> B, std::int64_t per_column, int threads);

}  // namespace poise
