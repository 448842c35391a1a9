#pragma once

#include <string>

#include "poise/data/dataset_file.hpp"
#include "poise/data/synth.hpp"

namespace poise {

/// A shape's data: training users, and some held out, every fifth of whose items is a target.
struct GpuData {
  std::string name;
  LoadedDataset loaded;
  Csr transposed;

  [[nodiscard]] CsrView X() const { return loaded.dataset.train.view(); }
};

GpuData gpu_data(SynthShape shape, double scale, const Execution& execution);

}  // namespace poise
