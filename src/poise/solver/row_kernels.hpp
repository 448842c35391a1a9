#pragma once

#include <cstdint>
#include <vector>

namespace poise {

/// Floats handled side by side; vectors of a row are padded to a multiple of it with zeros.
constexpr std::int64_t row_lane = 16;
/// Rows of factors that a pass takes in at a time, and that are added in float32 before float64 takes over.
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

/// Memory of one thread, kept from row to row.
struct RowScratch {
  std::vector<float> gathered;  ///< rows of factors, each `width` long: all of a row's, or row_chunk of them
  std::vector<float> y, r, z, p, Hp, run;
  std::vector<double> sums;
};

struct RowState {
  double explained = 0;  ///< by y: 2 y'g - y'Hy
  double rz = 0;         ///< r'D^-1 r
  int iterations = 0;
};

struct RowKernels {
  /// Fills scratch.r, scratch.z = D^-1 r and the state from scratch.y. With `keep` all factors of the row are
  /// left in scratch.gathered.
  RowState (*start)(const RowTask& task, RowScratch& scratch, bool keep);
  /// Conjugate gradients from there until rz <= relative * explained + absolute.
  void (*iterate)(const RowTask& task, RowScratch& scratch, bool kept, double relative, double absolute,
                  int max_iterations, RowState& state);
  /// scratch.sums = sum of (w - c z.y) z over the entries, all in float64 but for y and z themselves; returns
  /// sum of z.y (2 w - c z.y).
  double (*residual)(const RowTask& task, RowScratch& scratch);
};

/// The version for this processor.
RowKernels row_kernels();

}  // namespace poise
