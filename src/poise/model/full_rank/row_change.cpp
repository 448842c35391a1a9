#include "poise/model/full_rank/row_change.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <lapacke.h>

#include "poise/base/error.hpp"
#include "poise/linalg/mirror.hpp"
#include "poise/linalg/serial_blas.hpp"

namespace poise {

namespace {

/// Rows of F that enter together: the middle matrix stays small, and products wide.
constexpr std::int64_t rows_together = 256;

/// C_ui of a row's entries; none where C = 0.
std::span<const float> corrections(CsrView X, const Weights& W, std::int64_t u) {
  if (W.c.empty()) return {};
  return std::span(W.c).subspan(X.offsets[u], X.row_size(u));
}

bool same_terms(CsrView X, const Weights& before, CsrView Y, const Weights& after, std::int64_t u,
                ChangeOf of) {
  if (!std::ranges::equal(X.row(u), Y.row(u)) || before.a_of(u) != after.a_of(u)) return false;
  return of == ChangeOf::shared_system ||
         std::ranges::equal(corrections(X, before, u), corrections(Y, after, u));
}

/// M^-1 of the symmetric M, in place.
void invert_symmetric(Matrix<double>& M) {
  const SerialBlas serial;  // the same bits for any number of threads
  const auto n = static_cast<lapack_int>(M.rows());
  std::vector<lapack_int> pivots(M.rows());
  std::vector<double> work(64 * M.rows());
  double* const data = M.view().data;
  const bool good = LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'L', n, data, n, pivots.data(), work.data(),
                                        static_cast<lapack_int>(work.size())) == 0 &&
                    LAPACKE_dsytri_work(LAPACK_COL_MAJOR, 'L', n, data, n, pivots.data(), work.data()) == 0;
  if (!good)
    fail(ErrorKind::numerical,
         "the rows that change make X'X + Lambda singular to working precision; train the model again");
  for (std::int64_t i = 0; i < M.rows(); ++i) {  // LAPACK's lower triangle is the upper one here
    for (std::int64_t j = 0; j < i; ++j) M(i, j) = M(j, i);
  }
}

/// A <- A - L R for a symmetric L R (n x n): in ordinary memory the upper half, by stripes, which is then
/// mirrored.
template <class T>
void subtract_symmetric(In<T> L, In<T> R, Out<T> A, Backend& backend, int threads) {
  constexpr std::int64_t stripe = 1024;
  const Tiling stripes{A.rows, backend.traits().cheap_gathers ? stripe : std::max<std::int64_t>(1, A.rows)};
  for (std::int64_t tile = 0; tile < stripes.tiles(); ++tile) {
    const std::int64_t first = stripes.first(tile);
    const std::int64_t count = stripes.last(tile) - first;
    backend.gemm(Op::none, Op::none, T{-1}, L.block(first, count), R.columns(first, A.cols - first), T{1},
                 A.block(first, count).columns(first, A.cols - first));
  }
  if (stripes.tiles() > 1) mirror_upper(ordinary(backend, A), threads);
}

/// The rows of a change of A, users' and features', as numbers: those with s > 0, then the others.
Csr rows_of_A(const RowChange& change, std::vector<double>& sign) {
  const bool values = change.features.rows > 0;
  Csr all{.rows = 0, .cols = change.rows.cols, .offsets = {0}};
  const auto add = [&](CsrView rows, std::int64_t r, double s) {
    all.indices.insert(all.indices.end(), rows.row(r).begin(), rows.row(r).end());
    all.values.insert(all.values.end(), rows.row_values(r).begin(), rows.row_values(r).end());
    if (values) all.values.resize(all.indices.size(), 1);
    all.offsets.push_back(all.entries());
    ++all.rows;
    sign.push_back(s);
  };
  for (const bool positive : {true, false}) {
    for (std::int64_t u = 0; u < change.rows.rows; ++u)
      if ((change.sign[u] > 0) == positive) add(support_of(change.rows.view()), u, change.sign[u]);
    for (std::int64_t f = 0; f < change.features.rows; ++f)
      if ((change.feature_sign[f] > 0) == positive) add(change.features.view(), f, change.feature_sign[f]);
  }
  return all;
}

/// S^-1 + F A^-1 F', from T = F A^-1.
template <class T>
Matrix<double> middle_matrix(CsrView F, std::span<const double> sign, const Matrix<T>& scores, int threads) {
  Matrix<double> M(F.rows, F.rows);
  for_each_tile(F.rows, threads, [&](std::int64_t u) {
    for (std::int64_t v = 0; v < F.rows; ++v) {
      double sum = 0;
      const auto items = F.row(v);
      const auto values = F.row_values(v);
      for (std::size_t k = 0; k < items.size(); ++k)
        sum += static_cast<double>(scores(u, items[k])) * (values.empty() ? 1.0 : double{values[k]});
      M(u, v) = sum;
    }
  });
  for (std::int64_t u = 0; u < F.rows; ++u) {
    for (std::int64_t v = 0; v < u; ++v) M(u, v) = M(v, u) = (M(u, v) + M(v, u)) / 2;
    M(u, u) += 1 / sign[u];
  }
  return M;
}

}  // namespace

RowChange row_change(CsrView X, const Weights& before, CsrView Y, const Weights& after,
                     std::span<const std::int32_t> changed, ChangeOf of) {
  RowChange change;
  change.rows.cols = Y.cols;
  const bool with_C = of == ChangeOf::columns && (!before.c.empty() || !after.c.empty());
  const auto add = [&](CsrView rows, const Weights& W, std::int64_t u, double sign) {
    const auto items = rows.row(u);
    change.rows.indices.insert(change.rows.indices.end(), items.begin(), items.end());
    if (with_C) {
      const std::span<const float> C = corrections(rows, W, u);
      change.rows.values.insert(change.rows.values.end(), C.begin(), C.end());
      change.rows.values.resize(change.rows.indices.size(), 0);
    }
    change.rows.offsets.push_back(static_cast<std::int64_t>(change.rows.indices.size()));
    ++change.rows.rows;
    change.sign.push_back(sign * W.a_of(u));
  };
  std::vector<std::int32_t> different;
  for (const std::int32_t u : changed) {
    if (!same_terms(X, before, Y, after, u, of)) different.push_back(u);
  }
  for (const std::int32_t u : different) {
    if (Y.row_size(u) > 0) add(Y, after, u, 1);
  }
  for (std::int64_t u = X.rows; u < Y.rows; ++u) {
    if (Y.row_size(u) > 0) add(Y, after, u, 1);
  }
  for (const std::int32_t u : different) {
    if (X.row_size(u) > 0) add(X, before, u, -1);
  }
  return change;
}

void RowChange::add_diagonal(std::int32_t item, double s) {
  rows.indices.push_back(item);
  rows.offsets.push_back(static_cast<std::int64_t>(rows.indices.size()));
  ++rows.rows;
  sign.push_back(s);
}

template <class T>
void update_inverse(Resident<T>& A_inverse, const RowChange& change, Backend& backend,
                    const Execution& execution) {
  std::vector<double> signs;
  const Csr all = rows_of_A(change, signs);
  const CsrView rows = all.view();
  const std::int64_t n = A_inverse.rows();
  const Tiling tiling{rows.rows, rows_together};
  Progress progress(execution.observer, "updating the inverse", rows.rows, "rows");
  for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
    stop_if_asked(execution.observer);
    const std::int64_t first = tiling.first(tile);
    const std::int64_t count = tiling.last(tile) - first;
    const Csr F = copy_of(rows.block(first, count));
    const std::span sign = std::span(signs).subspan(first, count);
    Resident<T> scores(backend, count, n);  // F A^-1
    backend.spmm(F.view(), readable(A_inverse), scores.view());
    Matrix<double> M = middle_matrix(F.view(), sign, scores.home(), execution.threads);
    invert_symmetric(M);
    Resident<T> left(backend, n, count);  // A^-1 F' M^-1
    if constexpr (std::is_same_v<T, double>) {
      backend.gemm(Op::transpose, Op::none, 1.0, readable(scores), Lent(backend, M).view(), 0.0, left.view());
    } else {
      Resident<double> wide(backend, n, count);
      backend.gemm(Op::transpose, Op::none, 1.0, readable(scores), Lent(backend, M).view(), 0.0, wide.view());
      backend.copy(readable(wide), left.view());
    }
    subtract_symmetric(readable(left), readable(scores), A_inverse.view(), backend, execution.threads);
    progress.advance(count);
  }
}

double update_operations(std::int64_t items, std::int64_t rank) {
  const auto n = static_cast<double>(items);
  return 2 * n * n * static_cast<double>(rank);
}

template <class T>
void changed_residual(const RowChange& change, std::span<const std::int32_t> items, In<T> h, Out<T> r,
                      Backend& backend) {
  const CsrView F = change.rows.view();
  Csr weights{.rows = F.cols, .cols = F.rows, .offsets = std::vector<std::int64_t>(F.cols + 1, 0)};
  for (const std::int32_t i : items) weights.offsets[i + 1] = F.rows;
  std::partial_sum(weights.offsets.begin(), weights.offsets.end(), weights.offsets.begin());
  weights.indices.resize(weights.offsets.back());
  weights.values.resize(weights.offsets.back());
  for (const std::int32_t i : items) {
    for (std::int64_t u = 0; u < F.rows; ++u) {
      const auto row = F.row(u);
      const auto place = std::ranges::lower_bound(row, i);
      const bool has = !F.values.empty() && place != row.end() && *place == i;
      const double C = has ? static_cast<double>(F.row_values(u)[place - row.begin()]) : 0.0;
      const std::int64_t at = weights.offsets[i] + u;
      weights.indices[at] = static_cast<std::int32_t>(u);
      weights.values[at] = static_cast<float>(change.sign[u] * (1 + C));
    }
  }
  backend.column_hessian(support_of(F), weights.view(), items, h, r);
  backend.combine(std::vector<Term<T>>{{.x = r, .scale = -1}}, r);
}

template void update_inverse<float>(Resident<float>&, const RowChange&, Backend&, const Execution&);
template void update_inverse<double>(Resident<double>&, const RowChange&, Backend&, const Execution&);
template void changed_residual<float>(const RowChange&, std::span<const std::int32_t>, In<float>, Out<float>,
                                      Backend&);
template void changed_residual<double>(const RowChange&, std::span<const std::int32_t>, In<double>,
                                       Out<double>, Backend&);

}  // namespace poise
