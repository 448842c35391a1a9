#pragma once

#include <cstdint>
#include <optional>

#include "poise/data/dataset.hpp"

namespace poise {

/// The size of one part. With the split `given`, held-out users are those with a target, and their
/// interactions the targets;
/// with splits in time, the interactions are the targets.
struct PartSummary {
  std::int64_t users = 0;
  std::int64_t interactions = 0;
  std::int64_t dislikes = 0;
};

/// The size of prepared data, all parts together and each alone.
struct DatasetSummary {
  std::int64_t users = 0;
  std::int64_t items = 0;
  std::int64_t interactions = 0;
  double density = 0;
  std::int64_t dislikes = 0;
  PartSummary train;
  std::optional<PartSummary> validation;
  std::optional<PartSummary> test;
};

DatasetSummary summarize(const Dataset& dataset);

}  // namespace poise
