#include "progress.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "interrupt.hpp"
#include "standard_streams.hpp"

namespace poise::app {

namespace {

constexpr double terminal_interval = 0.1;
constexpr double plain_interval = 5.0;
constexpr int bar_width = 24;

}  // namespace

std::string amount(double value, const std::string& unit) {
  const char* prefixes[] = {"", "k", "M", "G", "T"};
  int step = 0;
  for (; value >= 1000 && step < 4; ++step) value /= 1000;
  const std::string number = step == 0 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
  return unit == "B" ? fmt::format("{} {}B", number, prefixes[step])
                     : fmt::format("{}{} {}", number, prefixes[step], unit);
}

std::string duration(double seconds) {
  if (seconds > 0 && seconds < 9.95) return fmt::format("{:.1f} s", std::max(0.1, seconds));
  const auto whole = static_cast<long>(std::max(0.0, seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

TerminalObserver::TerminalObserver(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

void TerminalObserver::start(std::string_view task, std::uint64_t total, std::string_view unit) {
  const std::lock_guard lock(mutex_);
  task_ = task;
  unit_ = unit;
  total_ = total;
  done_ = 0;
  drawn_ = false;
  begin_ = last_ = Clock::now();
}

void TerminalObserver::advance(std::uint64_t amount) {
  const std::lock_guard lock(mutex_);
  done_ += amount;
  if (quiet_) return;
  const Clock::time_point now = Clock::now();
  if (std::chrono::duration<double>(now - last_).count() < (terminal_ ? terminal_interval : plain_interval))
    return;
  last_ = now;
  draw(std::chrono::duration<double>(now - begin_).count());
}

void TerminalObserver::draw(double seconds) {
  const double rate = static_cast<double>(done_) / std::max(seconds, 1e-9);
  std::string line = fmt::format("{} {}", task_, amount(static_cast<double>(done_), unit_));
  if (total_ > 0) {
    const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
    const double left = rate > 0 ? static_cast<double>(total_ - std::min(done_, total_)) / rate : 0;
    const int filled = static_cast<int>(share * bar_width);
    line = fmt::format("{} [{:#<{}}{: <{}}] {:3.0f} %  {}/s  {} left", task_, "", filled, "",
                       bar_width - filled, 100 * share, amount(rate, unit_), duration(left));
  }
  write_stderr(terminal_ ? "\r\x1b[K" + line : line + "\n");
  drawn_ = true;
}

void TerminalObserver::finish() {
  const std::lock_guard lock(mutex_);
  if (drawn_ && terminal_) write_stderr("\r\x1b[K");
}

bool TerminalObserver::stop_requested() const { return interrupted(); }

}  // namespace poise::app
