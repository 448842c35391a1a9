#pragma once

#include <deque>
#include <memory>
#include <string>

#include "poise/search/scoring.hpp"

namespace poise {

/// Trained points whose scoring was stopped, kept so that scoring can continue without training them again.
/// If memory is short, the oldest are dropped first.
class HeldScorings {
 public:
  /// Keeps one, if `room` bytes allow it.
  void put(std::string key, std::unique_ptr<Scoring> scoring, double room);
  [[nodiscard]] bool has(const std::string& key) const;
  /// Removes and returns one; null if it is not there.
  std::unique_ptr<Scoring> take(const std::string& key);
  /// Drops the oldest until the rest fits into `room` bytes.
  void shrink(double room);

 private:
  struct Held {
    std::string key;
    std::unique_ptr<Scoring> scoring;
  };
  std::deque<Held> held_;  ///< the oldest first
  double bytes_ = 0;
};

}  // namespace poise
