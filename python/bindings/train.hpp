#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>

#include "poise/backend/backend.hpp"
#include "poise/backend/choose.hpp"
#include "poise/train/trainer.hpp"

#include "model.hpp"

namespace poise::python {

/// The parameters of a dict by their ids, and the family as "model"; Error{usage} for a value out of range.
ModelParameters parameters_of(const pybind11::dict& values);
/// The values of a list, as texts that set_value() and set_axis() read.
std::vector<std::string> texts_of_values(const pybind11::handle& values);

/// The backend of a device ("auto", "cpu" or "cuda") for this work, which is computed only if needed.
std::unique_ptr<Backend> backend_of(std::string_view device, const std::function<Work()>& work,
                                    const Execution& execution);

/// The GPU's backend for work that only scores; null for the processor, which needs none.
std::unique_ptr<Backend> scoring_backend_of(std::string_view device, const std::function<Work()>& work,
                                            const Execution& execution);

/// A trained model with its report.
Model model_of(const ModelParameters& parameters, Trained trained, Ids items, std::string data_checksum,
               std::string report);

}  // namespace poise::python
