#pragma once

namespace poise::app {

/// Seconds since the system started this process, to a hundredth: loading the program and its libraries, and
/// a restart, included. 0 where the system does not tell.
double seconds_since_start();

}  // namespace poise::app
