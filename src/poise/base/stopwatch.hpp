#pragma once

#include <chrono>
#include <map>
#include <string>

namespace poise {

/// Adds wall-clock time to named phases.
class Stopwatch {
 public:
  explicit Stopwatch(std::map<std::string, double>& seconds) : seconds_(seconds) {}
  /// Adds the time since the last call to a phase.
  void book(const std::string& phase) {
    const auto now = std::chrono::steady_clock::now();
    seconds_[phase] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  /// Seconds since construction.
  [[nodiscard]] double total() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - first_).count();
  }

 private:
  std::map<std::string, double>& seconds_;
  std::chrono::steady_clock::time_point first_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = first_;
};

}  // namespace poise
