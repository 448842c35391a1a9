#pragma once

#include "poise/backend/resident.hpp"
#include "poise/model/wmf/wmf.hpp"

namespace poise::python {

/// Users with known factors: scores = U V', independent of the history. Items are those of a WMF.
class FactorScorer : public Scorer {
 public:
  /// The model must outlive it.
  FactorScorer(MatrixView<const float> U, const Wmf& items) : U_(U), items_(items) {}

  [[nodiscard]] std::int64_t items() const override { return items_.items(); }
  [[nodiscard]] ScoreRows on(Backend& backend, const Execution& /*execution*/) const override {
    return [&backend, U = Lent(backend, U_), V = Lent(backend, items_.V())](
               const UserRows& /*histories*/, std::int64_t first, Out<float> scores) {
      backend.factor_scores(U.view().block(first, scores.rows), V.view(), scores);
    };
  }
  void similarities(std::span<const std::int32_t> items, MatrixView<float> near) const override {
    items_.similarities(items, near);
  }

 private:
  MatrixView<const float> U_;
  const Wmf& items_;
};

}  // namespace poise::python
