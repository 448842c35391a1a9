#pragma once

#include <nlohmann/json.hpp>

#include "poise/train/trainer.hpp"

namespace poise {

/// The report of a trained model, as model files hold it: the keys of `poise train --json`, without times.
nlohmann::ordered_json trained_json(const ModelParameters& parameters, const Trained& trained);

}  // namespace poise
