#pragma once

#include "poise/search/profiles.hpp"
#include "poise/search/search.hpp"

namespace poise {

/// One setting of what is not searched by profiles (rank and scheme), and the axes that are.
struct BestSetting {
  ModelParameters base;
  ProfileSpace space;
  std::vector<double ModelParameters::*> parameters;  ///< of the axes after alpha, but gamma
  bool gamma = false;                                 ///< the last axis is gamma

  [[nodiscard]] ModelParameters at(const Place& place) const;
};
std::vector<BestSetting> best_settings(const SearchSpace& space);

/// The best of each kind is what its profiles have chosen, where all of them are complete, and not the
/// highest of all points: what is flat to its edge is not chosen at the edge.
void choose_by_profiles(const Points& points, SearchResult& result);

/// Some of the points that a search by profiles will look at, for what they cost.
std::vector<ModelParameters> first_best_points(const SearchSpace& space);

/// The search by profiles: rounds of points, each chosen from the complete rounds before it, until all kinds
/// of all settings are done or the points or the time run out. Spaces are searched side by side, each as if
/// it were alone; what several of them want at a time may share work. One result for each.
std::vector<SearchResult> search_best(Points& points, std::span<const SearchSpace> spaces);

}  // namespace poise
