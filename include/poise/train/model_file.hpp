#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poise/data/ids.hpp"
#include "poise/data/item_features.hpp"
#include "poise/model/model_content.hpp"
#include "poise/model/parameters.hpp"
#include "poise/model/scorer.hpp"

namespace poise {

/// The content of a model file besides the tensors: nothing that may differ between two equal runs.
struct ModelInfo {
  std::string model;                           ///< the name of its family
  std::map<std::string, std::string> options;  ///< every training option, by flag name
  std::string data_checksum;                   ///< of the prepared data it was trained on
  std::string report;                          ///< the training report as JSON text, without times
  Ids items;                                   ///< the catalogue, item i is column i
  NamedFeatures features = {};                 ///< of the items, if the model learnt from them
};

/// The features that a model of these parameters learns from.
NamedFeatures learnt_from(const ModelParameters& parameters, const ItemFeatures& features);

/// Writes a model in the container layout (see storage/container.hpp), atomically. Matrices are written
/// without a copy; their rows must follow each other without gaps. `past_cache`: see write_container().
WriteSeconds write_model(const std::filesystem::path& path, const ModelInfo& info, const Scorer& model,
                         int threads = Execution::default_threads(), bool past_cache = false);

/// The bytes that write_model writes.
std::vector<std::byte> model_bytes(const ModelInfo& info, const Scorer& model);

/// The content of a file for a model of this family; if the name is no family, of the first family that fits.
ModelContent content_of(const Scorer& model, std::string_view family);

struct LoadedModel {
  ModelInfo info;
  std::unique_ptr<Scorer> scorer;
  std::string checksum;  ///< of the file

  /// The model as its own class; null if it is of another class.
  template <class Model>
  [[nodiscard]] const Model* as() const {
    return dynamic_cast<const Model*>(scorer.get());
  }
  /// V of a low-rank model, items x rank.
  [[nodiscard]] std::optional<MatrixView<const float>> item_factors() const;
};

/// Reads and checks a model; Error{input} if the file is not a complete, unaltered model. A dense matrix
/// stays in the memory-mapped file, which the model keeps open.
LoadedModel read_model(const std::filesystem::path& path, int threads = Execution::default_threads());

/// The same from an open container. A model decoded from bytes in memory may refer to them: they must outlive
/// it.
LoadedModel decode_model(const Container& file, int threads = Execution::default_threads());

}  // namespace poise
