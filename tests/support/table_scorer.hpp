#pragma once

#include <algorithm>
#include <utility>

#include "poise/model/scorer.hpp"

namespace poise::testing {

/// Scores that are written down: row u of the table for user u.
class TableScorer final : public Scorer {
 public:
  explicit TableScorer(Matrix<float> table) : table_(std::move(table)) {}

  [[nodiscard]] std::int64_t items() const override { return table_.cols(); }
  void score(CsrView /*histories*/, std::int64_t first, MatrixView<float> scores) const override {
    for (std::int64_t k = 0; k < scores.rows; ++k)
      std::ranges::copy(table_.row(first + k), scores.row(k).begin());
  }

 private:
  Matrix<float> table_;
};

}  // namespace poise::testing
