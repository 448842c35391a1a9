#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "poise/base/observer.hpp"

namespace poise::app {

/// 12 345 678 B -> "12.3 MB"; other units also use powers of 1000.
std::string amount(double value, const std::string& unit);
/// 75 -> "1 min 15 s".
std::string duration(double seconds);

/// The destination of progress. A test passes its own clock and output.
struct Screen {
  bool terminal = false;
  std::size_t width = 80;           ///< columns of the terminal
  std::function<double()> seconds;  ///< a clock that never goes back
  std::function<void(std::string_view)> write;

  static Screen standard_error();
};

/// Shows progress on stderr: on a terminal a bar with rate and time left, elsewhere a plain line every few
/// seconds. Passes Ctrl-C on to the work.
class TerminalObserver : public Observer {
 public:
  explicit TerminalObserver(bool quiet, Screen screen = Screen::standard_error());

  void start(std::string_view task, std::uint64_t total, std::string_view unit) override;
  void advance(std::uint64_t amount) override;
  void finish() override;
  [[nodiscard]] bool stop_requested() const override;

  /// Shows the state of work that consists of many tasks, such as the points of a search. It replaces the
  /// previous state and precedes the tasks' own progress; however often it changes, it is not written more
  /// often than the progress of a single task.
  void show_state(std::string state);
  /// That work has ended: clears the terminal's line.
  void clear_state();
  /// A message that is always written, on a line of its own.
  void say(std::string_view message);

 private:
  [[nodiscard]] double interval() const;
  [[nodiscard]] std::string task_line(double seconds) const;
  void draw(std::string line, double now);
  void erase();

  bool quiet_;
  Screen screen_;
  std::mutex mutex_;
  std::string state_;
  std::string task_;
  std::string unit_;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
  bool on_screen_ = false;  ///< whether the terminal shows a line that the next one replaces
  double begin_ = 0;        ///< of the task, in seconds
  double last_ = 0;         ///< time of the last output
};

}  // namespace poise::app
