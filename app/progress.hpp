#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "poise/base/observer.hpp"

namespace poise::app {

/// 12 345 678 B -> "12.3 MB"; other units are counted in thousands too.
std::string amount(double value, const std::string& unit);
/// 75 -> "1 min 15 s".
std::string duration(double seconds);

/// Shows progress on stderr: on a terminal a bar with rate and time left, elsewhere a plain line every few
/// seconds; and passes Ctrl-C on to the work.
class TerminalObserver : public Observer {
 public:
  explicit TerminalObserver(bool quiet);

  void start(std::string_view task, std::uint64_t total, std::string_view unit) override;
  void advance(std::uint64_t amount) override;
  void finish() override;
  [[nodiscard]] bool stop_requested() const override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double seconds);

  bool quiet_;
  bool terminal_;
  std::mutex mutex_;
  std::string task_;
  std::string unit_;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
  bool drawn_ = false;
  Clock::time_point begin_;
  Clock::time_point last_;
};

}  // namespace poise::app
