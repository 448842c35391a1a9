#pragma once

#include <cstdint>

#include "poise/data/dataset.hpp"

namespace poise::testing {

struct RandomDatasetOptions {
  std::int64_t users = 30;
  std::int64_t items = 20;
  std::int64_t held_out_users = 7;
  double density = 0.2;
  SplitKind split = SplitKind::users;
  bool values = false;
  unsigned seed = 1;
};

/// Consistent data with ids of all kinds, with both held-out parts unless the split is `none`.
Dataset random_dataset(const RandomDatasetOptions& options);

}  // namespace poise::testing
