#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "poise/comm/processes.hpp"

namespace poise {

/// How a launcher started this process.
struct Launch {
  std::string by;           ///< the variable that says so
  std::optional<int> size;  ///< how many processes it started, where it says that
};

/// What a launcher of MPI programs says by its variables: Open MPI's mpirun (OMPI_COMM_WORLD_SIZE), PMIx
/// (PMIX_RANK, e.g. srun --mpi=pmix) and PMI (PMI_RANK, PMI_SIZE). None without a launcher.
std::optional<Launch> find_launch(const std::function<const char*(const char*)>& variable);
/// From this process' environment.
std::optional<Launch> find_launch();

/// The processes of this job. MPI is loaded and started only if a launcher started more than one process, or
/// does not say how many. Error{resources} if it cannot be started, or sees another number of processes than
/// the launcher started: each would then do all the work, and write the same files.
std::unique_ptr<Processes> start_processes();

}  // namespace poise
