#pragma once

#include <vector>

#include "poise/search/profiles.hpp"
#include "poise/search/search.hpp"

namespace poise {

/// One setting of the parameters that are not searched by profiles (rank, scheme, neighbours), and the axes
/// that are.
struct BestSetting {
  ModelParameters base;
  ProfileSpace space;
  std::vector<double& (*)(ModelParameters&)> parameters;  ///< of the axes after alpha

  [[nodiscard]] ModelParameters at(const Place& place) const;
};
std::vector<BestSetting> best_settings(const SearchSpace& space);

/// Some of the points that a search by profiles will try, to estimate its cost.
std::vector<ModelParameters> first_best_points(const SearchSpace& space);

}  // namespace poise
