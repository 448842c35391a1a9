#pragma once

namespace poise::app {

/// Seconds since the system started this process, to a hundredth, including the loading of libraries and a
/// restart. 0 if the system does not tell.
double seconds_since_start();

}  // namespace poise::app
