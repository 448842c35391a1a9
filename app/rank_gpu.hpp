#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ranks.hpp"

namespace poise::app {

/// The GPUs that a process may use, by the names that CUDA_VISIBLE_DEVICES has for them: those that it lists
/// or, where `listed` is null, all that the driver's folder has.
std::vector<std::string> gpus_of(const char* listed, const std::filesystem::path& driver_folder);
std::vector<std::string> visible_gpus();

/// The GPU of a rank: those that share a list of GPUs on a host take them in turn. Empty: its host has none,
/// as far as is known. Error{usage}, the same for every rank, if a host has fewer than ranks.
std::string gpu_of(const std::vector<Rank>& ranks, int rank);

/// Has this process use that GPU alone; before CUDA starts.
void use_own_gpu(const std::vector<Rank>& ranks, int rank);

}  // namespace poise::app
