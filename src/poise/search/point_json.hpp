#pragma once

#include <nlohmann/json.hpp>

#include "poise/search/points.hpp"

namespace poise {

/// A point's figures, without its parameters.
nlohmann::ordered_json to_json(const PointResult& result);
/// The journal's entry of a point: its figures and its sample of users; its parameters are the key.
nlohmann::ordered_json journal_entry(const PointResult& result);
/// Error{input} if something is missing.
PointResult point_from_json(const nlohmann::ordered_json& json, const ModelParameters& parameters);

}  // namespace poise
