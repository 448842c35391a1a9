#pragma once

namespace poise::app {

/// From now on Ctrl-C (and SIGTERM, SIGHUP) asks running work to stop; a second one ends the program at once.
void watch_for_interrupts();
[[nodiscard]] bool interrupted();
/// What follows an interruption may be interrupted once more.
void go_on_after_interruption();

}  // namespace poise::app
