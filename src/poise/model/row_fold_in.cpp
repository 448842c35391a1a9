#include "poise/model/row_fold_in.hpp"

#include <algorithm>

#include "poise/backend/cpu/factor_products.hpp"
#include "poise/backend/cpu/row_systems.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/symmetric_eigen.hpp"
#include "poise/solver/row_entries.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {
namespace {

const Execution here{.threads = 1, .observer = nullptr};
/// What float32 reaches; relative to what the row explains.
constexpr double fold_in_tolerance = 1e-12;

/// Hands solve() the systems of all rows.
template <class Solve>
void with_systems(MatrixView<const float> rotated, std::span<const double> sigma, CsrView rows,
                  const Weights& W, const WmfLambda& lambda, const Execution& execution, const Solve& solve) {
  const RowEntries entries = make_row_entries(rows, W, execution);
  std::vector<double> lambdas;
  for (std::int64_t r = 0; r < rows.rows; ++r) lambdas.push_back(lambda.of(rows.row_size(r), rows.cols));
  solve({.factors = rotated,
         .sigma = sigma,
         .b = W.a,
         .lambdas = lambdas,
         .entries = entries.view(),
         .c = entries.c,
         .w = entries.w,
         .lowest = W.lowest,
         .highest = W.highest});
}

}  // namespace

RowFoldIn::RowFoldIn(MatrixView<const float> Z, std::span<const float> column_weights)
    : rotated_(Z.rows, Z.cols) {
  Matrix<double> gram = factor_gram(Z, column_weights, here);
  EigenPairs eigen = top_eigenpairs(gram.view(), gram.rows());
  sigma_ = std::move(eigen.s);
  E_ = std::move(eigen.Q);
  for (double& s : sigma_) s = s > dead_direction * sigma_.front() ? s : 0.0;
  combine_rows(Z, E_, rotated_.view(), {}, here);
  for (std::int64_t k = 0; k < Z.cols; ++k) {
    if (sigma_[k] > 0) continue;
    for (std::int64_t r = 0; r < Z.rows; ++r) rotated_(r, k) = 0;
  }
}

Matrix<float> RowFoldIn::fold_in(CsrView rows, const Weights& W, const WmfLambda& lambda) const {
  Matrix<float> y(rows.rows, rotated_.cols());
  with_systems(rotated(), sigma_, rows, W, lambda, here, [&](const RowSystems& systems) {
    solve_rows(systems, y.view(), {.relative = fold_in_tolerance}, here);
  });
  return y;
}

void RowFoldIn::fold_in_on(Backend& backend, MatrixView<const float> rotated, CsrView rows, const Weights& W,
                           const WmfLambda& lambda, MatrixView<float> y, const Execution& execution) const {
  backend.combine(std::span<const Term<float>>(), y);
  with_systems(rotated, sigma_, rows, W, lambda, execution, [&](const RowSystems& systems) {
    static_cast<void>(backend.solve_rows(systems, y, {.relative = fold_in_tolerance}));
  });
}

Matrix<float> RowFoldIn::fold_in_original(CsrView rows, const Weights& W, const WmfLambda& lambda) const {
  Matrix<float> y = fold_in(rows, W, lambda);
  multiply_rows(y.view(), transposed(E_), here);
  return y;
}

}  // namespace poise
