#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "poise/base/fields.hpp"
#include "poise/evaluate/estimates.hpp"
#include "poise/search/race.hpp"
#include "poise/search/user_sample.hpp"
#include "poise/train/trainer.hpp"

namespace poise {

/// A trained point, without its model.
struct PointResult {
  ModelParameters parameters;
  Estimates validation = {};
  double objective = 0;
  Certificate certificate = {};
  std::int64_t iterations = 0;
  std::int64_t rounds = 0;
  bool converged = false;
  double seconds = 0;
  UserSample sample = {};
  std::string failure = {};  ///< why there is no model: too ill-conditioned even for float64
  /// For a point that a race cut, whose validation is empty: the estimate from the users that were scored.
  std::optional<Standing> cut = {};

  /// On validation; lower than any other if there is no model or a race cut it, so that it is not chosen.
  [[nodiscard]] double score(const Metric& choice) const;
  /// On validation; for a cut point the estimate of the metric that chooses, without an error.
  [[nodiscard]] Estimates figures(const Metric& choice) const;
};

/// A point's figures.
template <>
inline constexpr auto fields<PointResult> =
    std::tuple{Field{"validation", &PointResult::validation},   Field{"objective", &PointResult::objective},
               Field{"certificate", &PointResult::certificate}, Field{"iterations", &PointResult::iterations},
               Field{"rounds", &PointResult::rounds},           Field{"converged", &PointResult::converged},
               Field{"seconds", &PointResult::seconds}};

}  // namespace poise
