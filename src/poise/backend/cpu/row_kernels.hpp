#pragma once

#include <cstdint>
#include <vector>

#include "poise/linalg/conjugate_gradients.hpp"

namespace poise {

/// Floats handled side by side; vectors of a row are padded to a multiple of it with zeros.
constexpr std::int64_t row_lane = 16;
/// Rows of factors that a pass reads at a time; their sum is in float32, the sum of such sums in float64.
constexpr std::int64_t row_chunk = 64;

/// One row system as the kernels see it: the entries' factors, c and w (either may be null: zeros), and D,
/// 1 / D (0 where D is 0), `width` = d padded.
struct RowTask {
  const float* factors = nullptr;
  std::int64_t stride = 0;
  std::int64_t d = 0;
  std::int64_t width = 0;
  const std::int32_t* indices = nullptr;
  const float* c = nullptr;
  const float* w = nullptr;
  std::int64_t count = 0;
  const float* D = nullptr;
  const float* D_inverse = nullptr;
};

/// The state of a row between steps of conjugate gradients; vectors have `width` entries.
struct RowIterate {
  std::vector<float> y, r, p;
  std::vector<double> sums;    ///< the sums of all passes since the last step
  ConjugateGradients scalars;  ///< of H y = g, `explained` being that of y itself

  explicit RowIterate(std::int64_t width)
      : y(width, 0.0F), r(width, 0.0F), p(width, 0.0F), sums(width, 0.0) {}
};

/// Memory of one thread, kept from row to row.
struct RowScratch {
  std::vector<float> gathered;  ///< rows of factors, each `width` long: all of a row's, or row_chunk of them
  std::vector<float> z, Hp, run;

  explicit RowScratch(std::int64_t width) : z(width, 0.0F), Hp(width, 0.0F), run(width, 0.0F) {}
};

/// Where a pass finds the factors of the entries: it gathers a chunk at a time, gathers them all into their
/// places in scratch.gathered, or finds them there.
enum class RowSource { gather, gather_and_keep, kept };

/// Conjugate gradients on H y = g in parts, so that a caller can go through many rows a piece at a time: a
/// pass over all entries at the start and `begin`, then for each step a pass over all entries and `step`. The
/// pieces [first, last) of a pass come in order, first a multiple of row_chunk.
struct RowKernels {
  /// sums += sum of (w - c z.y) z over the entries, explained += sum of z.y (2 w - c z.y).
  void (*pass_start)(const RowTask& task, std::int64_t first, std::int64_t last, RowSource source,
                     RowIterate& row, RowScratch& scratch);
  /// r, rz and the first direction p from there; sums = 0.
  void (*begin)(const RowTask& task, RowIterate& row, RowScratch& scratch);
  /// sums -= sum of c (z.p) z.
  void (*pass)(const RowTask& task, std::int64_t first, std::int64_t last, RowSource source, RowIterate& row,
               RowScratch& scratch);
  /// The step along p and the next direction; sums = 0. False, without a step, if p'Hp is not positive.
  bool (*step)(const RowTask& task, RowIterate& row, RowScratch& scratch);
  /// row.sums = sum of (w - c z.y) z over the entries, all in float64 but for y and z themselves; returns
  /// sum of z.y (2 w - c z.y).
  double (*residual)(const RowTask& task, RowIterate& row, RowScratch& scratch);
};

/// The version for this processor.
RowKernels row_kernels();

}  // namespace poise
