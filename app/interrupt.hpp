#pragma once

namespace poise::app {

/// From now on Ctrl-C (and SIGTERM, SIGHUP) asks running work to stop; a second one ends the program at once.
void watch_for_interrupts();
[[nodiscard]] bool interrupted();
/// After an interruption was handled: the next work can be interrupted again.
void go_on_after_interruption();

}  // namespace poise::app
