#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "poise/model/low_rank.hpp"
#include "poise/model/wmf/wmf.hpp"
#include "poise/train/model_file.hpp"

namespace poise::python {

/// A model with what its file says about it.
struct Model {
  ModelInfo info;
  std::shared_ptr<const Scorer> scorer;
  pybind11::object bytes = {};  ///< what a model that was made from bytes lies in; null otherwise

  // Of a model that was trained in this process:
  std::map<std::string, double> seconds = {};
  std::vector<LowRankRound> trace = {};

  /// The model where it is matrix factorization; null otherwise.
  [[nodiscard]] const Wmf* wmf() const { return dynamic_cast<const Wmf*>(scorer.get()); }
};

}  // namespace poise::python
