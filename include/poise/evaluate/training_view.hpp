#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/linalg/csr.hpp"

namespace poise {

/// What metrics may read of the training data; each says what it needs (training_need).
struct TrainingView {
  std::span<const std::int64_t> counts = {};  ///< the training users of each item
  CsrView rows = {};                          ///< the training matrix, users x items

  TrainingView() = default;
  TrainingView(std::span<const std::int64_t> counts) : counts(counts) {}     // NOLINT(*-explicit-*)
  TrainingView(const std::vector<std::int64_t>& counts) : counts(counts) {}  // NOLINT(*-explicit-*)
  TrainingView(const std::vector<std::int64_t>& counts, CsrView rows) : counts(counts), rows(rows) {}
};

}  // namespace poise
