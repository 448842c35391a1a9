#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "poise/model/full_rank/kept_inverse.hpp"
#include "poise/model/low_rank.hpp"
#include "poise/model/wmf/wmf.hpp"
#include "poise/train/model_file.hpp"

namespace poise::python {

/// A model and the information in its file.
struct Model {
  ModelInfo info;
  std::shared_ptr<const Scorer> scorer;
  pybind11::object bytes = {};      ///< the bytes of a model that was made from bytes; null otherwise
  std::filesystem::path file = {};  ///< that it was read from; empty otherwise

  // Only for a model that was trained in this process:
  std::map<std::string, double> seconds = {};
  std::vector<LowRankRound> trace = {};
  std::shared_ptr<const KeptInverse> inverse = {};  ///< if it was to be kept

  /// The model if it is matrix factorization; null otherwise.
  [[nodiscard]] const Wmf* wmf() const { return dynamic_cast<const Wmf*>(scorer.get()); }
};

/// How to get the inverse that an update of the model needs; empty if there is none.
std::function<KeptInverse()> kept_inverse_of(const Model& model, int threads);

/// Writes the model and, where there is one, its inverse beside it.
void save_model(const Model& model, const std::filesystem::path& path, int threads);

}  // namespace poise::python
