#pragma once

#include <cstdint>

#include "poise/base/observer.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/closed_form.hpp"
#include "poise/model/low_rank.hpp"

namespace poise {

/// How a round ended.
enum class RoundEnd {
  lower,   ///< with a pair that is no worse
  stands,  ///< rounding has the better of it: with the pair that it began with
  failed   ///< the same, its own pair not being finite
};

struct RoundDone {
  double before = 0;            ///< the objective that it began with
  double objective = 0;         ///< that is reached now
  double gained = 0;            ///< the difference, where that is known better than from these two
  double resolution = 0;        ///< gains below this may be what inner solves left, or rounding
  std::int64_t iterations = 0;  ///< of its inner solves, the most that a system took
  RoundEnd end = RoundEnd::lower;
};

/// A pair as it will be saved, in float64.
struct CheckedPair {
  double objective = 0;
  double excess = 0;  ///< the most that re-solving one of the factors could gain
};

/// A pair of factors and its problem, which is quadratic in each of them: what is a model's own of an
/// alternating fit.
class FactorPair {
 public:
  virtual ~FactorPair() = default;
  /// Whether the start is the optimum.
  [[nodiscard]] virtual bool solved() const = 0;
  /// What inner solves of the first round may leave of the objective; 0: every round solves to the tolerance.
  [[nodiscard]] virtual double coarsest() const { return 0; }
  /// Solves for one factor given the other and for the other given that, and whatever makes rounds fewer; the
  /// objective never rises. Inner solves may leave `excess`, and where the tolerance is finer no more than
  /// that in a round that may be the last.
  virtual RoundDone round(double excess, bool last) = 0;
  /// Brings the pair to the form in which it is saved.
  virtual CheckedPair check() = 0;
  /// Directions whose factors are not zero.
  [[nodiscard]] virtual std::int64_t live() const = 0;
  virtual Factors take() = 0;
};

/// Rounds until one lowers the objective by no more than options.least_decrease, options.rounds at the most,
/// unless the start is the optimum; then the pair's own objective and certificate.
///
/// Inner solves may leave a tenth of what the round before gained. A round that gains too little to go on is
/// followed by one to the tolerance, and if that gains again, by more.
void alternate(FactorPair& pair, const LowRankOptions& options, double observed_weight, Observer* observer,
               Stopwatch& watch, LowRankFit& fit);

}  // namespace poise
