#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "poise/linalg/matrix.hpp"
#include "poise/solver/certificate.hpp"

namespace poise {

/// Where an alternating solve begins: at the closed form of the unweighted problem with every direction
/// alive, or at small random factors.
enum class Start { closed_form, random };

/// The options that all low-rank models share.
struct LowRankOptions {
  std::int64_t rank = 100;
  double lambda = 100;
  int rounds = 100;              ///< the largest number
  double least_decrease = 1e-6;  ///< a round that lowers the objective by less than this share is the last
  double tolerance = 1e-6;       ///< of the final inner solves, relative to the explained weight
  Start start = Start::closed_form;
  std::uint64_t seed = 1;  ///< of a random start
  std::uint64_t memory_limit = std::numeric_limits<std::uint64_t>::max();
};

/// Error{usage} for options out of range.
void validate(const LowRankOptions& options);

/// Error{resources} if `needed` bytes exceed the memory limit.
void check_memory(const LowRankOptions& options, std::uint64_t needed);

/// The state after a round; round 0 is the start.
struct LowRankRound {
  int round = 0;
  double objective = 0;
  std::int64_t iterations = 0;  ///< of the inner solves of this round, the largest number of one system
  double seconds = 0;           ///< since the fit began
};

/// A trained pair of factors: X U V' (U is n x d) for the asymmetric models, U V' (U is m x d) for matrix
/// factorization; V is n x d.
struct LowRankFit {
  Matrix<float> U;
  Matrix<float> V;
  double objective = 0;        ///< of this pair, in float64
  double observed_weight = 0;  ///< the objective of U = V = 0
  /// What re-solving U alone or V alone could still gain, the larger of the two. It does not bound the
  /// distance to the global optimum, except if C = 0 and the closed form is that optimum.
  Certificate certificate;
  std::int64_t rounds = 0;
  std::int64_t iterations = 0;  ///< the largest number of an inner solve
  bool converged = false;  ///< whether the last round lowered the objective by less than `least_decrease`
  std::int64_t live_directions = 0;  ///< of the `rank`, those whose factors are not zero
  std::vector<LowRankRound> trace;
  std::map<std::string, double> seconds;  ///< by phase
};

}  // namespace poise
