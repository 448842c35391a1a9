#pragma once

#include <cstdint>

#include "poise/base/observer.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/closed_form.hpp"
#include "poise/model/low_rank.hpp"
#include "poise/model/low_rank/round_checkpoint.hpp"

namespace poise {

/// How a round ended.
enum class RoundEnd {
  lower,   ///< with a pair that is no worse
  stands,  ///< with the pair that it began with, because rounding outweighs its gain
  failed   ///< the same, its own pair not being finite
};

struct RoundDone {
  double before = 0;            ///< the objective that it began with
  double objective = 0;         ///< that is reached now
  double gained = 0;            ///< the decrease, if it is known more exactly than from these two
  double resolution = 0;        ///< gains below this may come from inexact inner solves or rounding
  std::int64_t iterations = 0;  ///< of its inner solves, the most that a system took
  RoundEnd end = RoundEnd::lower;
};

/// A pair as it will be saved, in float64.
struct CheckedPair {
  double objective = 0;
  double excess = 0;  ///< a bound on the gain of re-solving one of the factors
};

/// A pair of factors and its problem, which is quadratic in each of them: the part of an alternating fit that
/// differs between models.
class FactorPair {
 public:
  virtual ~FactorPair() = default;
  /// Whether the start is the optimum.
  [[nodiscard]] virtual bool solved() const = 0;
  /// The excess that inner solves of the first round may leave; 0: every round solves to the tolerance.
  [[nodiscard]] virtual double coarsest() const { return 0; }
  /// Solves for one factor given the other, then for the other, and may accelerate; the objective never
  /// rises. Inner solves may leave `excess`; in a round that may be the last they solve to the tolerance if
  /// that is finer.
  virtual RoundDone round(double excess, bool last) = 0;
  /// Transforms the pair to the form in which it is saved.
  virtual CheckedPair check() = 0;
  /// Directions whose factors are not zero.
  [[nodiscard]] virtual std::int64_t live() const = 0;
  virtual Factors take() = 0;

  /// Between rounds: all that the next ones depend on, and back to it.
  virtual void save(RoundState& state) const = 0;
  virtual void restore(const RoundState& state) = 0;
};

/// Rounds until one lowers the objective by no more than options.least_decrease, options.rounds at the most,
/// unless the start is the optimum; then the pair's own objective and certificate.
///
/// Inner solves may leave a tenth of the gain of the round before. A round that gains too little is followed
/// by one to the tolerance, and if that gains enough, by more. With a checkpoint rounds begin where it ends.
void alternate(FactorPair& pair, const LowRankOptions& options, double observed_weight, Observer* observer,
               Stopwatch& watch, LowRankFit& fit, RoundCheckpoint* checkpoint = nullptr);

}  // namespace poise
