#pragma once

#include <filesystem>
#include <memory>

#include "poise/comm/transport.hpp"

namespace poise {

/// The file of the plug-in that calls MPI: ../lib/poise/poise_mpi.so, seen from the program. The program does
/// not link with MPI itself (docs/design/mpi-plugin.md).
std::filesystem::path mpi_plugin();

/// Loads the plug-in and starts MPI; Error{resources} if the plug-in is missing, cannot be loaded, is of
/// another version, or MPI does not start.
std::unique_ptr<Transport> load_mpi();

/// The function of the plug-in, by this name: starts MPI. Null with `why` if it fails.
constexpr const char* start_mpi_name = "poise_start_mpi";
using StartMpi = Transport*(const char* version, const char** why);

}  // namespace poise
