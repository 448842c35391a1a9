#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/study/results.hpp"

namespace poise {

/// Items by their training users, rarest first, in at most `bins` bins that hold about equal shares of the
/// training interactions; items with equally many users are in one bin. `targets` and `hits` count, for every
/// item, the users whose target it is and those who find it. Bins without a target are left out.
std::vector<PopularityBin> popularity_bins(std::span<const std::int64_t> training_counts,
                                           std::span<const std::int64_t> targets,
                                           std::span<const std::int64_t> hits, int bins);

}  // namespace poise
