#pragma once

namespace poise::app {

/// From now on Ctrl-C (and SIGTERM, SIGHUP) asks running work to stop; a second one ends the program at once.
void watch_for_interrupts();
[[nodiscard]] bool interrupted();

/// While one lives, the first of these signals ends the program at once: for work that may wait for others,
/// e.g. for the writer of a pipe, and has nothing to clean up. Does nothing unless `wanted`.
class EndAtOnce {
 public:
  explicit EndAtOnce(bool wanted);
  EndAtOnce(const EndAtOnce&) = delete;
  EndAtOnce& operator=(const EndAtOnce&) = delete;
  ~EndAtOnce();
};

}  // namespace poise::app
