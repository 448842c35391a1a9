#pragma once

#include <optional>
#include <string>
#include <vector>

#include "poise/search/points.hpp"

namespace poise {

/// Points that one process trains one after the other, because they share an inverse.
struct PointGroup {
  std::vector<ModelParameters> points;
  std::vector<std::optional<Race>> races;  ///< of each
  Diagonals diagonals = Diagonals::as_asked;
  std::optional<double> seconds = {};  ///< no point is begun later than so long after this arrived
};

/// The outcome of a group.
struct PointAnswer {
  std::vector<PointResult> results;   ///< of its points, and of the other diagonal if that was trained too
  std::vector<ModelParameters> left;  ///< the points that were not begun
  double seconds = 0;
};

/// Both as messages between processes, without loss: numbers are read as they were written, bit for bit.
std::string message_of(const PointGroup& group);
std::string message_of(const PointAnswer& answer);
PointAnswer answer_in(const std::string& message);

/// A group from a message, with the values that its races point to.
class ReceivedGroup {
 public:
  explicit ReceivedGroup(const std::string& message);
  ReceivedGroup(const ReceivedGroup&) = delete;
  ReceivedGroup& operator=(const ReceivedGroup&) = delete;
  [[nodiscard]] const PointGroup& group() const { return group_; }

 private:
  PointGroup group_;
  std::vector<std::vector<std::int32_t>> values_;
};

}  // namespace poise
