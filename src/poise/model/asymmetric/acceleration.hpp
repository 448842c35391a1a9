#pragma once

#include "poise/model/asymmetric/problem.hpp"
#include "poise/model/low_rank/round_state.hpp"

namespace poise {

/// Nonlinear conjugate gradients over the rounds of an alternating solve: a round's change of the pair is the
/// preconditioned gradient. Pairs are compared in the basis in which they are nearest to each other.
class RoundAcceleration {
 public:
  RoundAcceleration(const AsymmetricProblem& problem, Backend& backend)
      : problem_(problem), backend_(backend) {}

  /// Transforms `next` to the basis nearest to that of `point`, if both have the same rank.
  void align(const AsymmetricPoint& point, AsymmetricPoint& next) const;
  /// Moves the point along Polak and Ribiere's direction, made from the round from `point` to `next`, by the
  /// best step; false, with the point unchanged, if that is no better than the round itself. `gained` is the
  /// gain of the round, then that of the step.
  bool advance(const AsymmetricPoint& next, AsymmetricPoint& point, double& gained);
  /// The next direction is the round's own.
  void restart() { step_ = {}; }

  /// The last direction and the last round's change.
  void save(RoundState& state) const;
  void restore(const RoundState& state);

 private:
  [[nodiscard]] double inner(const Resident<float>& A, const Resident<float>& B) const;
  void combine(const Resident<float>& plus, const Resident<float>& minus, double beta,
               Resident<float>& to) const;
  [[nodiscard]] double U_weight(const AsymmetricPoint& point) const;

  const AsymmetricProblem& problem_;
  Backend& backend_;
  AsymmetricPoint step_;      ///< the last direction, with its Z
  AsymmetricPoint gradient_;  ///< the last round's change
};

}  // namespace poise
