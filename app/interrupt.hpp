#pragma once

namespace poise::app {

/// From now on Ctrl-C (and SIGTERM, SIGHUP) asks running work to stop; a second one ends the program at once.
void watch_for_interrupts();
[[nodiscard]] bool interrupted();

}  // namespace poise::app
