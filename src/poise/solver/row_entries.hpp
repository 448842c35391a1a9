#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/comm/host_memory.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// The stored entries of weighted least squares whose rows decouple, on the union of X's support and C's:
///
///     c_ui = a_u b_i C_ui,   w_ui = W_ui where X has the entry, 0 elsewhere.
struct RowEntries {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  HostArray<std::int64_t> offsets = std::vector<std::int64_t>{0};
  HostArray<std::int32_t> indices;
  HostArray<float> c;  ///< parallel to `indices`; empty if C = 0
  HostArray<float> w;  ///< parallel to `indices`

  [[nodiscard]] CsrView view() const { return {rows, cols, offsets, indices, {}}; }
};

/// Rows are users. O(entries of both).
RowEntries make_row_entries(CsrView X, const Weights& W, const Execution& execution);

/// Once on each host of several processes, which have them alike; null: as they are. Before views are made of
/// them.
void hold_once(RowEntries& entries, Processes* processes);
/// Where the backend computes, while the pins live.
void pin(const RowEntries& entries, Backend& backend, std::vector<Pin>& pins);

/// The systems of these rows: `sigma` as RowSystems says, `b` the weights of the rows; without a lambda.
RowSystems systems_of(const RowEntries& rows, const Weights& W, std::span<const float> b, In<float> factors,
                      std::span<const double> sigma);

/// Exchanges rows and columns, with c and w. O(entries + rows + cols).
RowEntries transpose(const RowEntries& entries, const Execution& execution);

}  // namespace poise
