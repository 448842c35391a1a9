#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

namespace poise::bench {

/// The shortest of several runs, in seconds: the one least disturbed by other work on the machine.
class Shortest {
 public:
  template <class Work>
  void time(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    seconds_ = std::min(seconds_, taken.count());
  }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  double seconds_ = std::numeric_limits<double>::infinity();
};

}  // namespace poise::bench
