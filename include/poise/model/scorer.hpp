#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

class Backend;

/// A scorer whose matrices lie in a backend's memory, for many users at a time.
class BackendScorer {
 public:
  virtual ~BackendScorer() = default;
  /// As Scorer::score for all rows of `histories`; `scores` may lie anywhere. Equal to it but for rounding.
  virtual void score(CsrView histories, MatrixView<float> scores) = 0;
};

/// A trained model as the recommender sees it: scores of all items for a user given by a history.
class Scorer {
 public:
  virtual ~Scorer() = default;
  [[nodiscard]] virtual std::int64_t items() const = 0;
  /// scores(k, i) = the model's score of item i for the user with history row first + k, for every k below
  /// scores.rows. Runs on the calling thread; called from several threads at once.
  virtual void score(CsrView histories, std::int64_t first, MatrixView<float> scores) const = 0;

  /// The same through a backend, whose memory must hold the model's matrices; both must outlive what is
  /// returned. Null, the default, where nothing is gained over score().
  [[nodiscard]] virtual std::unique_ptr<BackendScorer> on(Backend& backend, const Execution& execution) const;

  /// About how many operations of a matrix product scores of all rows of `histories` take.
  [[nodiscard]] virtual double operations(CsrView histories) const;

  /// What each item of a history (with its values; empty: all 1) adds to the score of `item`, in the order of
  /// the history; together they are the score. Error{usage} where a model's scores are no such sum, which is
  /// the default.
  [[nodiscard]] virtual std::vector<double> contributions(std::span<const std::int32_t> history,
                                                          std::span<const float> values,
                                                          std::int32_t item) const;

  /// scores[i] = how near item i is to `item`; scores.size() = items(). By default the scores of a history of
  /// `item` alone. Error{usage} for a model that knows no such thing.
  virtual void similarity(std::int32_t item, std::span<float> scores) const;
};

}  // namespace poise
