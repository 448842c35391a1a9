#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/full_rank/row_change.hpp"
#include "poise/solver/column_problem.hpp"

namespace poise {

/// An earlier model, and what changed since.
struct FullRankStart {
  std::vector<double> l;         ///< Lambda's diagonal, with the new items
  double b_bar = 1;              ///< see ColumnProblem
  bool float64 = false;          ///< the precision of A^-1
  const RowChange& change;       ///< of the columns' systems
  MatrixView<const float> B;     ///< the earlier model by rows, over the first items
  const std::vector<double>& h;  ///< its h_ii
  bool zero_diagonal = false;
};

/// The solutions h of earlier columns, and their residuals e_i - (H_i / b_i) h in the changed systems. The
/// earlier columns count as exact, so that the residual is what the change makes of it, sparse work; what
/// they lacked stays, for the certificate to see.
template <class T>
void start_columns(const FullRankStart& start, const ColumnProblem& problem,
                   std::span<const std::int32_t> items, Out<T> h, Out<T> r, Backend& backend, int threads);

extern template void start_columns<float>(const FullRankStart&, const ColumnProblem&,
                                          std::span<const std::int32_t>, Out<float>, Out<float>, Backend&,
                                          int);
extern template void start_columns<double>(const FullRankStart&, const ColumnProblem&,
                                           std::span<const std::int32_t>, Out<double>, Out<double>, Backend&,
                                           int);

}  // namespace poise
