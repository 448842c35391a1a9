#pragma once

#include <cstdint>
#include <memory>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/comm/processes.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/model/full_rank/dense_checkpoint.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/model/trained.hpp"
#include "poise/solver/column_share.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// One full-rank model (unconstrained or with a zero diagonal) trained by several processes, which all call
/// it with the same data, all on processors or each on a GPU of its own: the inverse in tiles over a grid of
/// them, rows of A^-1 and columns of B at the owners of columns (ColumnShare), the rest as fit_full_rank does
/// it, without Woodbury's identity. The solution's B holds this process' columns: items x own columns, by
/// rows. All processes return the same figures.
///
/// For one grid the same bits; for another the inverse rounds differently, within the same certificate.
/// Memory of a process: 8 n^2 / P bytes (12 n^2 / P where float64 is needed), blocks and panels of columns,
/// X. Errors are those of fit_full_rank, at all processes; Error{resources} says how many processes would do.
FullRankFit fit_full_rank_spread(CsrView X, const Weights& W, const FullRankOptions& options,
                                 const ColumnShare& share, Backend& backend, const Execution& execution,
                                 DenseCheckpoint* checkpoint = nullptr);

/// The bytes that this takes of a process beyond X.
std::uint64_t spread_full_rank_memory(CsrView X, bool weighted, bool float64, int processes);

/// The bytes that it takes of a process' GPU, and Error{resources} if they do not fit.
std::uint64_t spread_gpu_memory(std::int64_t items, int processes);
void check_spread_gpu_memory(CsrView X, int processes, std::uint64_t gpu_memory);

/// Error{resources}, which says how many processes would do, if that does not fit.
void check_spread_memory(CsrView X, const Weights& W, std::uint64_t memory_limit, int processes);

}  // namespace poise
