#pragma once

#include <optional>
#include <string>
#include <vector>

#include "poise/search/chosen.hpp"
#include "poise/search/search.hpp"
#include "poise/study/results.hpp"

namespace poise {

/// The results of a search for one rank and weighting.
struct SearchedModel {
  StudyModel model;
  SearchResult result;
};

/// The models of a search, every rank and weighting separately, in the order of the axes.
std::vector<SearchedModel> searched_models(const Points& points, const SearchSpace& space,
                                           const SearchResult& result);

/// A search as a study of its own models: the best points of each kind, trained to convergence and measured
/// on the test part if there is one, with all comparisons of a study. `name` is the data's name in the
/// tables, `grid` the value of --grid. `journal` may be null. After `until` nothing is trained: see
/// SearchedData.
StudyResults search_study(const std::string& name, Points& points, const AllRows& all_rows, Journal* journal,
                          const SearchSpace& space, const SearchResult& result, const std::string& grid,
                          const Execution& execution, std::optional<Points::Clock::time_point> until);

}  // namespace poise
