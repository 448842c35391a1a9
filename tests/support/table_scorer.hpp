#pragma once

#include <utility>

#include "poise/backend/backend.hpp"
#include "poise/model/scorer.hpp"

namespace poise::testing {

/// Scores that are written down: row u of the table for user u.
class TableScorer final : public Scorer {
 public:
  explicit TableScorer(Matrix<float> table) : table_(std::move(table)) {}

  [[nodiscard]] std::int64_t items() const override { return table_.cols(); }
  [[nodiscard]] ScoreRows on(Backend& backend, const Execution& /*execution*/) const override {
    return [&backend, this](CsrView /*histories*/, std::int64_t first, Out<float> scores) {
      backend.upload(table_.view().block(first, scores.rows), scores);
    };
  }

 private:
  Matrix<float> table_;
};

}  // namespace poise::testing
