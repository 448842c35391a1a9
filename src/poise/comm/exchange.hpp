#pragma once

#include <string>
#include <vector>

#include "poise/comm/processes.hpp"

namespace poise {

/// Everyone's bytes in the order of ranks, at all of them: Processes::all_gather for large parts, which each
/// process sends to every other one itself, so that nothing passes through the first. All processes call it,
/// on the channel of work, in the same order.
std::vector<std::string> exchange(Processes& processes, std::string own);

}  // namespace poise
