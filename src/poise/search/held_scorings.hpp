#pragma once

#include <deque>
#include <memory>
#include <string>

#include "poise/search/scoring.hpp"

namespace poise {

/// Trained points whose scoring was broken off, so that they need not be trained again to be scored further.
/// Where there is no room for all, the oldest go first.
class HeldScorings {
 public:
  /// Keeps one, as far as `room` bytes allow.
  void put(std::string key, std::unique_ptr<Scoring> scoring, double room);
  /// Hands one out; null where it is not there.
  std::unique_ptr<Scoring> take(const std::string& key);
  /// Lets go of what does not fit into `room` bytes.
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
