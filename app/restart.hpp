#pragma once

namespace poise::app {

/// The variable in which a restart stores the core type that OpenBLAS chose by itself.
constexpr const char* core_found_variable = "POISE_OPENBLAS_FOUND";

/// Restarts the program in its own process with settings that its runtimes read from the environment before
/// main():
///
/// - OPENBLAS_CORETYPE, if OpenBLAS chose worse kernels than the processor can run (backend/blas_kernel.hpp);
/// - a short spin of the OpenMP runtime's idle threads, for commands with rounds of work. By default they
/// spin for milliseconds: on a busy machine, or beside a second Poise, rounds of small problems then take up
/// to thirty times as long.
///
/// Settings of the user are kept. Returns if nothing has to change or a restart is impossible.
void restart_with_settings(char** argv, bool works_in_rounds);

}  // namespace poise::app
