#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "poise/data/ids.hpp"
#include "poise/io/container.hpp"
#include "poise/model/popularity.hpp"
#include "poise/recommend/scorer.hpp"

namespace poise {

/// What a model file says about its model besides the tensors: nothing that may differ between two equal
/// runs.
struct ModelInfo {
  std::string model;                           ///< popularity, ...
  std::map<std::string, std::string> options;  ///< every training option, by flag name
  std::string data_checksum;                   ///< of the prepared data it was trained on
  std::string report;                          ///< the training report as JSON text, without times
  Ids items;                                   ///< the catalogue, item i is column i
};

/// Writes a model in the container layout (see io/container.hpp), atomically.
void write_model(const std::filesystem::path& path, const ModelInfo& info, const Popularity& model);

struct LoadedModel {
  ModelInfo info;
  std::unique_ptr<Scorer> scorer;
};

/// Reads and checks a model; Error{input} with one sentence when the file is not a whole, unaltered model.
LoadedModel read_model(const std::filesystem::path& path);

/// The same from an open container.
LoadedModel decode_model(const Container& file);

}  // namespace poise
