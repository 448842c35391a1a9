#pragma once

#include "poise/comm/processes.hpp"
#include "poise/recommend/recommend.hpp"

namespace poise {

/// recommend() by several processes, each for a part of the rows; every process calls it with the same
/// arguments. The first one returns all lists, the others those of their own rows, the rest empty. The same
/// bytes for any number of processes, on the processor.
RankedLists recommend_together(const Scorer& scorer, const UserRows& histories,
                               const RecommendOptions& options, const Execution& execution, Backend* backend,
                               Processes& processes);

}  // namespace poise
