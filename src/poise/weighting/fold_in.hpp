#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/linalg/csr.hpp"
#include "poise/weighting/weighting.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// The counts that weights and Lambda may depend on.
struct TrainingCounts {
  std::int64_t users = 0;
  std::vector<std::int64_t> item_users;  ///< |S_i|
  std::int64_t reference = 0;            ///< items that means are over: the first ones

  bool operator==(const TrainingCounts&) const = default;
};
/// Those of a training matrix, all items being the reference.
TrainingCounts training_counts(CsrView X, int threads = 1);

/// Weights histories like training rows: a_u from the history's size and the training mean, w_ui from the
/// history's own values, b_i and |S_i| from training. The formulas of Scheme are implemented only here;
/// make_weights calls this with the training rows.
class FoldInWeighting {
 public:
  /// From the training matrix. This and the next constructor throw Error{usage} for options out of range.
  FoldInWeighting(CsrView X, const WeightingOptions& options, int threads = 1);
  /// From the parts of it that are used: the number of users m, and |S_i| of each item.
  FoldInWeighting(std::int64_t users, std::span<const std::int64_t> item_users,
                  const WeightingOptions& options);
  /// From counts of earlier training data: means and the largest count are of the first `counts.reference`
  /// items; later items have a b and a rareness of their own by these.
  FoldInWeighting(const TrainingCounts& counts, const WeightingOptions& options);

  /// a_u of a user with this many items.
  [[nodiscard]] float a(std::int64_t history_size) const;
  /// b_i.
  [[nodiscard]] float b(std::int64_t item) const { return b_.empty() ? 1.0F : b_[item]; }
  /// Whether the scheme accepts an entry of value r.
  [[nodiscard]] bool accepts(double r) const;
  /// w_ui, the weight W_ui of an entry of value r, which the scheme accepts.
  [[nodiscard]] double weight(std::int64_t item, double r) const;
  /// 1 + C_ui of a disliked entry.
  [[nodiscard]] double of_disliked() const { return options_.alpha_negative; }

  /// The weights of complete histories, with their support and that of their dislikes; see make_weights.
  [[nodiscard]] Weights weights(const UserRows& histories, int threads = 1) const;

 private:
  [[nodiscard]] Weights of_items(CsrView histories, int threads) const;

  WeightingOptions options_;
  ReadsValues values_;
  std::int64_t items_;
  double mean_history_ = 0;
  std::vector<float> b_;          ///< empty: all 1
  std::vector<double> rareness_;  ///< for inverse_popularity: min(clip, (|S_i| / max |S|)^-gamma)
};

}  // namespace poise
