#pragma once

#include <cstdint>
#include <utility>

#include "poise/comm/processes.hpp"
#include "poise/model/neighbours/checkpoint.hpp"

namespace poise {

/// The columns [first, last) that one of several processes solves.
std::pair<std::int64_t, std::int64_t> columns_of(int rank, int processes, std::int64_t items);

/// Brings the columns that each process has solved to the first one. Every process calls it.
void gather_columns(NeighbourSolution& solution, Processes& processes);

}  // namespace poise
