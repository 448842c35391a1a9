#pragma once

#include <nlohmann/json.hpp>

#include "poise/solver/certificate.hpp"

namespace poise {

/// A certificate as JSON; what only full rank has is left out of other models'.
nlohmann::ordered_json to_json(const Certificate& certificate, bool full_rank);
Certificate certificate_from_json(const nlohmann::ordered_json& json);

}  // namespace poise
