#pragma once

namespace poise::app {

/// Idle threads of the OpenMP runtime spin for milliseconds before they sleep. On a machine with other work
/// to do, or beside a second Poise, rounds of small problems then take up to thirty times as long. The
/// runtime reads how long before main() begins, so that this starts the program again in its place, with a
/// short spin; it returns where the environment already says something about it, or where that is not
/// possible.
void restart_with_short_spin(char** argv);

}  // namespace poise::app
