#include "progress.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "interrupt.hpp"
#include "standard_streams.hpp"

namespace poise::app {

namespace {

constexpr double terminal_interval = 0.1;
constexpr double plain_interval = 5.0;
constexpr int bar_width = 24;
constexpr std::string_view erase_line = "\r\x1b[K";

/// At most `width` characters of a line; a mark shows where it was cut.
std::string cut(std::string line, std::size_t width) {
  std::size_t count = 0;
  std::size_t end = 0;  // where all but the last of the width's characters end
  for (std::size_t at = 0; at < line.size(); ++at) {
    if ((static_cast<unsigned char>(line[at]) & 0xC0U) == 0x80U) continue;  // a character's later bytes
    if (++count == width) end = at;
  }
  return count <= width ? line : line.substr(0, end) + "…";
}

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

Screen Screen::standard_error() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return {
      .terminal = isatty(STDERR_FILENO) == 1,
      .width = known ? size.ws_col : Screen{}.width,
      .seconds =
          [] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
          },
      .write = [](std::string_view text) { write_stderr(text); }};
}

TerminalObserver::TerminalObserver(bool quiet, Screen screen)
    : quiet_(quiet), screen_(std::move(screen)), last_(screen_.seconds()) {}

double TerminalObserver::interval() const { return screen_.terminal ? terminal_interval : plain_interval; }

void TerminalObserver::start(std::string_view task, std::uint64_t total, std::string_view unit) {
  const std::lock_guard lock(mutex_);
  task_ = task;
  unit_ = unit;
  total_ = total;
  done_ = 0;
  begin_ = screen_.seconds();
}

void TerminalObserver::advance(std::uint64_t amount) {
  const std::lock_guard lock(mutex_);
  done_ += amount;
  if (quiet_) return;
  const double now = screen_.seconds();
  // A short task is not worth a line; a sequence of many short tasks is, from time to time.
  if (now - last_ < interval() || (state_.empty() && now - begin_ < interval())) return;
  draw(task_line(now - begin_), now);
}

std::string TerminalObserver::task_line(double seconds) const {
  const double share =
      total_ == 0 ? 0 : std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  const std::string done = amount(static_cast<double>(done_), unit_);
  if (!state_.empty() && seconds < interval()) return state_;
  if (!state_.empty())
    return fmt::format("{} | {} {}", state_, task_, total_ > 0 ? fmt::format("{:.0f} %", 100 * share) : done);
  if (total_ == 0) return fmt::format("{} {}", task_, done);
  const double rate = static_cast<double>(done_) / std::max(seconds, 1e-9);
  const double left = rate > 0 ? static_cast<double>(total_ - std::min(done_, total_)) / rate : 0;
  const int filled = static_cast<int>(share * bar_width);
  return fmt::format("{} [{:#<{}}{: <{}}] {:3.0f} %  {}/s  {} left", task_, "", filled, "",
                     bar_width - filled, 100 * share, amount(rate, unit_), duration(left));
}

void TerminalObserver::draw(std::string line, double now) {
  last_ = now;
  if (screen_.terminal) {
    screen_.write(std::string(erase_line) + cut(std::move(line), screen_.width));
    on_screen_ = true;
  } else {
    screen_.write(line + "\n");
  }
}

void TerminalObserver::erase() {
  if (on_screen_) screen_.write(erase_line);
  on_screen_ = false;
}

void TerminalObserver::finish() {
  const std::lock_guard lock(mutex_);
  if (state_.empty()) erase();
}

void TerminalObserver::show_state(std::string state) {
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
  const double now = screen_.seconds();
  if (!quiet_ && now - last_ >= interval()) draw(state_, now);
}

void TerminalObserver::clear_state() {
  const std::lock_guard lock(mutex_);
  state_.clear();
  erase();
}

void TerminalObserver::say(std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (quiet_) return;
  erase();
  screen_.write(fmt::format("{}\n", message));
}

bool TerminalObserver::stop_requested() const { return interrupted(); }

}  // namespace poise::app
