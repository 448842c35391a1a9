#pragma once

namespace poise::app {

/// Where a restart leaves the core type that OpenBLAS had come up with by itself.
constexpr const char* core_found_variable = "POISE_OPENBLAS_FOUND";

/// Starts the program again in its place with what its runtimes read from the environment before main()
/// begins:
///
/// - OPENBLAS_CORETYPE, where OpenBLAS came up with lesser kernels than the processor can run
///   (backend/blas_kernel.hpp);
/// - a short spin of the OpenMP runtime's idle threads, for commands with rounds of work. They spin for
///   milliseconds otherwise: on a machine with other work to do, or beside a second Poise, rounds of small
///   problems then take up to thirty times as long.
///
/// What the environment already says about either is the user's and stays. Returns where nothing is to be
/// changed, or where that is not possible.
void restart_with_settings(char** argv, bool works_in_rounds);

}  // namespace poise::app
