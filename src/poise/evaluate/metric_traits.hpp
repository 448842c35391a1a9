#pragma once

#include <string_view>
#include <vector>

#include "poise/evaluate/metrics.hpp"

namespace poise {

/// What is declared of a metric besides its formula.
struct MetricTraits {
  /// A mean over users that a search may maximize, a mean over users that is better the lower it is, or one
  /// number for all users.
  enum class Aim { high, low, of_all };

  std::string_view name;
  TrainingNeed need = TrainingNeed::nothing;
  Aim aim = Aim::high;
  bool of_a_list = true;  ///< written with @R
};
const MetricTraits& traits_of(MetricKind kind);

/// In the order of MetricKind.
std::vector<std::string_view> metric_names();

}  // namespace poise
