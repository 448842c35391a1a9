#pragma once

#include <span>
#include <vector>

#include "poise/search/search.hpp"

namespace poise {

/// The best of each kind is what its profiles have chosen, where all of them are complete, and not the
/// highest of all points: what is flat to its edge is not chosen at the edge.
void choose_by_profiles(const Points& points, SearchResult& result);

/// The search by profiles: rounds of points, each chosen from the complete rounds before it, until all kinds
/// of all settings are done or the points or the time run out. Spaces are searched side by side, each as if
/// it were alone; what several of them want at a time may share work. One result for each.
std::vector<SearchResult> search_best(Points& points, std::span<const SearchSpace> spaces);

}  // namespace poise
