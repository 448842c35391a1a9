#pragma once

#include <nlohmann/json.hpp>

#include "poise/search/chosen.hpp"
#include "poise/search/search.hpp"

namespace poise {

/// The keys of a point in `poise search --json`.
nlohmann::ordered_json point_json(const PointResult& result, const Metric& choice);

/// A chosen model, trained to convergence: trained_json, and its figures on the held-out parts that have
/// targets. By profiles it has all axes, searched or not.
nlohmann::ordered_json chosen_json(const ModelParameters& parameters, const Chosen& chosen,
                                   SearchMethod method);

/// The results of a search, without its time; `best` is chosen_json, null if there is no model. An incomplete
/// search lists the points that it would have tried next.
nlohmann::ordered_json search_json(const SearchResult& result, const Points& points,
                                   const nlohmann::ordered_json& best);

}  // namespace poise
