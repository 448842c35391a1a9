#pragma once

#include <algorithm>

#include "poise/model/factor_scores.hpp"
#include "poise/model/scorer.hpp"

namespace poise::python {

/// Users with known factors: scores = U V', independent of the history.
class FactorScorer : public Scorer {
 public:
  FactorScorer(MatrixView<const float> U, MatrixView<const float> V) : U_(U), V_(V) {}

  [[nodiscard]] std::int64_t items() const override { return V_.rows; }
  void score(CsrView /*histories*/, std::int64_t first, MatrixView<float> scores) const override {
    Matrix<double> users(scores.rows, U_.cols);
    for (std::int64_t k = 0; k < scores.rows; ++k) std::ranges::copy(U_.row(first + k), users.row(k).begin());
    factor_scores(users.view(), V_, scores);
  }

 private:
  MatrixView<const float> U_;
  MatrixView<const float> V_;
};

}  // namespace poise::python
