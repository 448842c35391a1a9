#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "poise/evaluate/evaluate.hpp"
#include "poise/search/point_result.hpp"
#include "poise/search/user_sample.hpp"
#include "poise/train/trainer.hpp"

namespace poise {

/// The users of a validation part, in the order in which points are scored on them: those of the sample, part
/// by part, then all others.
struct ScoredUsers {
  std::int64_t count = 0;
  SampledUsers sampled;
  std::vector<std::int64_t> others;
};
/// The users of a part that have targets.
ScoredUsers scored_users(CsrView targets);

/// A trained point while it is scored: until it loses its race, and further on request.
class Scoring {
 public:
  /// `seconds` is the time of training; the other arguments must outlive this.
  Scoring(const ModelParameters& parameters, Trained trained, double seconds, Trainer& trainer,
          const EvaluateOptions& options, const ScoredUsers& users, const Execution& execution);

  /// The result on as many users as it takes to lose the race on `metric`, or on all.
  PointResult run(const std::optional<Race>& race, const std::string& metric);

  /// The largest size of the model.
  [[nodiscard]] double bytes() const;

 private:
  Trained trained_;
  PointResult result_;
  const ScoredUsers& users_;
  Evaluation evaluation_;
  std::size_t parts_done_ = 0;
};

}  // namespace poise
