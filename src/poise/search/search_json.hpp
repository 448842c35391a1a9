#pragma once

#include <nlohmann/json.hpp>

#include "poise/search/search.hpp"

namespace poise {

/// The keys of a point in `poise search --json`.
nlohmann::ordered_json point_json(const PointResult& result);

/// A chosen model, trained to convergence: trained_json, and its figures on the held-out parts that have
/// targets.
nlohmann::ordered_json chosen_json(const ModelParameters& parameters, const Trained& trained,
                                   const Points& points, const Execution& execution);

/// What a finished search found, without its time; `best` is chosen_json.
nlohmann::ordered_json search_json(const SearchResult& result, const Points& points,
                                   const nlohmann::ordered_json& best);

/// What there is when the time is up: the measured points of the grid, and what is missing.
nlohmann::ordered_json unfinished_json(const TimeIsUp& up, const SearchSpace& space, const Points& points);

}  // namespace poise
