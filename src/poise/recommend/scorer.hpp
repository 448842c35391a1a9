#pragma once

#include <cstdint>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// A trained model as the recommender sees it: scores of all items for a user given by a history.
class Scorer {
 public:
  virtual ~Scorer() = default;
  [[nodiscard]] virtual std::int64_t items() const = 0;
  /// scores(k, i) = the model's score of item i for the user with history row first + k, for every k below
  /// scores.rows. Runs on the calling thread; called from several threads at once.
  virtual void score(CsrView histories, std::int64_t first, MatrixView<float> scores) const = 0;
};

}  // namespace poise
