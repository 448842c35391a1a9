#pragma once

#include "poise/backend/resident.hpp"
#include "poise/model/scorer.hpp"

namespace poise::python {

/// Users with known factors: scores = U V', independent of the history.
class FactorScorer : public Scorer {
 public:
  FactorScorer(MatrixView<const float> U, MatrixView<const float> V) : U_(U), V_(V) {}

  [[nodiscard]] std::int64_t items() const override { return V_.rows; }
  [[nodiscard]] ScoreRows on(Backend& backend, const Execution& /*execution*/) const override {
    return [&backend, U = Lent(backend, U_), V = Lent(backend, V_)](const UserRows& /*histories*/,
                                                                    std::int64_t first, Out<float> scores) {
      backend.factor_scores(U.view().block(first, scores.rows), V.view(), scores);
    };
  }

 private:
  MatrixView<const float> U_;
  MatrixView<const float> V_;
};

}  // namespace poise::python
