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

/// A model and the information in its file.
struct Model {
  ModelInfo info;
  std::shared_ptr<const Scorer> scorer;
  pybind11::object bytes = {};  ///< the bytes of a model that was made from bytes; null otherwise

  // Only for a model that was trained in this process:
  std::map<std::string, double> seconds = {};
  std::vector<LowRankRound> trace = {};

  /// The model if it is matrix factorization; null otherwise.
  [[nodiscard]] const Wmf* wmf() const { return dynamic_cast<const Wmf*>(scorer.get()); }
};

}  // namespace poise::python
