#pragma once

#include <cstdint>

#include "poise/base/observer.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/low_rank.hpp"

namespace poise {

/// What a round did.
struct RoundDone {
  double objective = 0;         ///< that is reached now
  std::int64_t iterations = 0;  ///< of its inner solves, the most that a system took
  bool last = false;            ///< whether no other follows
};

/// The problem of a pair of factors, which is quadratic in each of them.
class FactorPair {
 public:
  virtual ~FactorPair() = default;
  /// Solves for one factor given the other and for the other given that, and whatever makes rounds fewer; the
  /// objective never rises. Numbers count from 1.
  virtual RoundDone round(int number) = 0;
};

/// Rounds until one is the last, options.rounds at the most; each leaves its line in the fit's trace.
void alternate(FactorPair& pair, const LowRankOptions& options, Observer* observer, const Stopwatch& watch,
               LowRankFit& fit);

}  // namespace poise
