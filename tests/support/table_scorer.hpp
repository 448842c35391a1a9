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
  [[nodiscard]] ScoreRows on(Backend& backend, const Execution& /*execution*/) const override {
    return scores_in_memory(backend,
                            [this](CsrView /*histories*/, std::int64_t first, MatrixView<float> scores) {
                              for (std::int64_t row = 0; row < scores.rows; ++row)
                                std::ranges::copy(table_.row(first + row), scores.row(row).begin());
                            });
  }

 private:
  Matrix<float> table_;
};

}  // namespace poise::testing
