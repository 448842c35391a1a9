#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "poise/evaluate/co_occurrence.hpp"
#include "poise/evaluate/metrics.hpp"
#include "poise/evaluate/training_view.hpp"

namespace poise {

/// Items by their training users: the most popular ones with a fifth of all interactions, the least popular
/// ones with a fifth, and the others (Abdollahpouri et al., UMAP 2021).
enum class PopularityGroup : std::uint8_t { head, middle, tail };
using GroupShares = std::array<double, 3>;

/// What metrics know of the items, copied from the training data.
class ItemFacts {
 public:
  /// Error{input} where the training data are not of `items` items or lack what the metrics need.
  ItemFacts(std::int64_t items, const TrainingView& training, std::span<const Metric> metrics, int threads);

  [[nodiscard]] std::int64_t items() const { return items_; }
  /// Training users, |S_i|.
  [[nodiscard]] double users(std::int32_t item) const { return static_cast<double>(counts_[item]); }
  /// s_i = |S_i|^-1/2, without users 1.
  [[nodiscard]] double stratified_weight(std::int32_t item) const { return weights_[item]; }
  /// log2(m / |S_i|) bits, without users as with one.
  [[nodiscard]] double information(std::int32_t item) const { return information_[item]; }
  [[nodiscard]] PopularityGroup group(std::int32_t item) const { return groups_[item]; }
  /// The groups' shares of all training interactions; without any all belong to the tail.
  [[nodiscard]] const GroupShares& group_shares() const { return group_shares_; }
  /// In [0, 1]: the cosine of the items' columns of X.
  [[nodiscard]] double similarity(std::int32_t i, std::int32_t j) const { return alike_->cosine(i, j); }

 private:
  void make_groups();

  std::int64_t items_ = 0;
  std::vector<std::int64_t> counts_;
  std::vector<double> weights_;
  std::vector<double> information_;
  std::vector<PopularityGroup> groups_;
  GroupShares group_shares_ = {0, 0, 1};
  std::optional<CoOccurrence> alike_;
};

}  // namespace poise
