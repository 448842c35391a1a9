#include "gpu_data.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "gpu_kernels.hpp"

namespace poise {
namespace {

template <class Keeps>
Csr rows_of(const Csr& x, std::int64_t first, std::int64_t count, const Keeps& keeps) {
  Csr part{.rows = count, .cols = x.cols, .offsets = {0}};
  part.indices.reserve(x.offsets[first + count] - x.offsets[first]);
  for (std::int64_t u = first; u < first + count; ++u) {
    const auto row = x.view().row(u);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (keeps(k)) part.indices.push_back(row[k]);
    }
    part.offsets.push_back(part.entries());
  }
  return part;
}

}  // namespace

GpuData gpu_data(SynthShape shape, double scale, const Execution& execution) {
  GpuData data;
  const auto begin = Clock::now();
  const Csr all = synthesize({.shape = shape, .scale = scale}, execution);
  data.name = shape == SynthShape::netflix ? "netflix" : shape == SynthShape::msd ? "msd" : "ml-20m";
  const double share = shape == SynthShape::netflix ? 40e3 / 463435
                       : shape == SynthShape::msd   ? 50e3 / 571355
                                                    : 10e3 / 136677;
  const auto held_out = static_cast<std::int64_t>(share * static_cast<double>(all.rows) + 0.5);
  Dataset& dataset = data.loaded.dataset;
  dataset.split = SplitKind::users;
  // As many for a test part, which nobody reads here.
  dataset.train = rows_of(all, 0, all.rows - 2 * held_out, [](std::size_t) { return true; });
  const auto target = [](std::size_t place_in_row) { return place_in_row % 5 == 2; };
  dataset.validation = HeldOut{
      .users = {},
      .fold_in = rows_of(all, all.rows - held_out, held_out, [&](std::size_t k) { return !target(k); }),
      .targets = rows_of(all, all.rows - held_out, held_out, target)};
  data.loaded.checksum = data.name;
  data.transposed = transpose(data.X());
  fmt::print(stderr, "{}: {} x {}, {} interactions, made in {:.1f} s\n", data.name, data.X().rows,
             data.X().cols, data.X().entries(), seconds_since(begin));
  return data;
}

}  // namespace poise
