#pragma once

#include <nlohmann/json.hpp>

#include "poise/solver/certificate.hpp"

namespace poise {

/// A certificate as JSON; models of low rank omit the keys that only full rank has.
nlohmann::ordered_json to_json(const Certificate& certificate, bool full_rank);
Certificate certificate_from_json(const nlohmann::ordered_json& json);

}  // namespace poise
