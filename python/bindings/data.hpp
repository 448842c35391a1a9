#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "poise/data/dataset_file.hpp"

namespace poise::python {

/// Prepared data, in memory or read from a folder.
class Data {
 public:
  explicit Data(Dataset dataset)
      : loaded_(std::make_shared<LoadedDataset>(LoadedDataset{std::move(dataset), {}})) {}
  explicit Data(LoadedDataset loaded) : loaded_(std::make_shared<LoadedDataset>(std::move(loaded))) {}

  [[nodiscard]] const Dataset& dataset() const { return loaded_->dataset; }
  [[nodiscard]] const std::shared_ptr<LoadedDataset>& loaded() const { return loaded_; }

  /// Computes its identity in models and journals: that of its file, or of the file it would be written to.
  void identify(const Execution& execution) const;
  [[nodiscard]] bool identified() const { return !loaded_->checksum.empty(); }

 private:
  std::shared_ptr<LoadedDataset> loaded_;
};

}  // namespace poise::python
