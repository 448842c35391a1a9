#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace poise {

/// One ranked list of at most `width` items for each of `rows` users, best first. A user with fewer
/// candidates has a shorter list.
class RankedLists {
 public:
  RankedLists() = default;
  RankedLists(std::int64_t rows, std::int64_t width)
      : width_(width), sizes_(rows, 0), items_(rows * width), scores_(rows * width) {}

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(sizes_.size()); }
  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] std::int64_t size(std::int64_t row) const { return sizes_[row]; }
  [[nodiscard]] std::span<const std::int32_t> items(std::int64_t row) const {
    return std::span(items_).subspan(row * width_, sizes_[row]);
  }
  [[nodiscard]] std::span<const float> scores(std::int64_t row) const {
    return std::span(scores_).subspan(row * width_, sizes_[row]);
  }

  /// Memory for the complete list of a row, to be filled before resize(row, size). Different threads may fill
  /// different rows.
  [[nodiscard]] std::span<std::int32_t> item_slots(std::int64_t row) {
    return std::span(items_).subspan(row * width_, width_);
  }
  [[nodiscard]] std::span<float> score_slots(std::int64_t row) {
    return std::span(scores_).subspan(row * width_, width_);
  }
  void resize(std::int64_t row, std::int64_t size) { sizes_[row] = size; }

 private:
  std::int64_t width_ = 0;
  std::vector<std::int64_t> sizes_;
  std::vector<std::int32_t> items_;
  std::vector<float> scores_;
};

}  // namespace poise
