#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "poise/comm/processes.hpp"

#include "command.hpp"

namespace poise::app {

/// A process of the job, as the others see it.
struct Rank {
  std::string host;
  std::string version;
  std::string kernels;                 ///< OpenBLAS' core type
  std::string processors;              ///< the list that it may run on, e.g. "0-3,8"
  int cores = 1;                       ///< how many it may use
  std::uint64_t memory = 0;            ///< of its host
  std::vector<std::string> gpus = {};  ///< that it may use, see rank_gpu.hpp
};

std::string host_name();

/// Everyone's description, at all of them; this process alone without a launcher.
std::vector<Rank> meet(Processes& processes);

/// Error{resources} if ranks run other versions, or other kernels, which round differently.
void check_same_program(const std::vector<Rank>& ranks);

/// Error{resources} if a rank runs another command than the first one, or it is run by others there: they
/// would wait for each other without end. All ranks call it before anything else.
void check_same_command(const std::string& command, const std::string& by, Processes& processes);

/// Error{resources} if a rank has other options than the first one: each host may have a config file of its
/// own. Paths and threads may differ. All ranks call it.
void check_same_options(const CLI::App& parser, Processes& processes);

/// Error{resources} if ranks use GPUs of other models than the first one, which round differently. All ranks
/// call it.
void check_same_gpus(const std::string& own, Processes& processes);

/// The threads of one rank by default: its own cores or, if several ranks may run on the same ones, its
/// share.
int threads_of(const std::vector<Rank>& ranks, int rank);

/// The memory that each rank may use by default: 80 % of its host's, divided among the ranks there; the
/// least of all, because it may decide how models are computed.
std::uint64_t memory_of(const std::vector<Rank>& ranks);

/// Error{resources} if a rank has read other data from this path than the first one. All ranks call it.
void check_same_data(const std::string& path, const std::string& checksum, const Context& context);

}  // namespace poise::app
