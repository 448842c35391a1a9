#pragma once

#include <span>
#include <vector>

#include "poise/search/search.hpp"

namespace poise {

/// Sets the best of each kind to the choice of its profiles, if all of them are complete, and not to the
/// highest of all points: a point at the edge of a plateau is not chosen.
void choose_by_profiles(const Points& points, SearchResult& result);

/// The search by profiles: rounds of points, each chosen from the complete rounds before it, until all kinds
/// of all settings are done or the points or the time run out. Spaces are searched side by side, each as if
/// it were alone; points that several of them try at the same time may share work. One result for each
/// space.
std::vector<SearchResult> search_best(Points& points, std::span<const SearchSpace> spaces);

}  // namespace poise
