#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// The largest number of users, or of items.
constexpr std::int64_t max_count = std::numeric_limits<std::int32_t>::max();

/// A list of texts (user or item ids) in one block of bytes: text k is bytes[offsets[k]] up to offsets[k +
/// 1].
class Ids {
 public:
  Ids() = default;
  /// Takes over stored ids; offsets must start at 0, ascend, and end at bytes.size().
  Ids(std::string bytes, std::vector<std::int64_t> offsets)
      : bytes_(std::move(bytes)), offsets_(std::move(offsets)) {}

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
  [[nodiscard]] std::string_view operator[](std::int64_t k) const {
    return std::string_view(bytes_).substr(offsets_[k], offsets_[k + 1] - offsets_[k]);
  }
  void push_back(std::string_view text) {
    bytes_ += text;
    offsets_.push_back(static_cast<std::int64_t>(bytes_.size()));
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<std::int64_t>& offsets() const { return offsets_; }
  bool operator==(const Ids&) const = default;

 private:
  std::string bytes_;
  std::vector<std::int64_t> offsets_ = {0};
};

/// The ids at the given positions, in that order.
Ids select(const Ids& ids, const std::vector<std::int32_t>& positions);

/// The positions of the ids in ascending order: as numbers if all of them are numbers, else as bytes.
std::vector<std::int32_t> sorted_order(const Ids& ids);

}  // namespace poise
