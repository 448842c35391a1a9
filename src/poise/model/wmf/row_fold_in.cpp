#include "poise/model/wmf/row_fold_in.hpp"

#include <algorithm>
#include <memory>

#include "poise/backend/resident.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/solver/row_entries.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {
namespace {

/// On the calling thread.
std::unique_ptr<Backend> here() { return make_backend(BackendKind::cpu, 1); }
/// What float32 reaches; relative to what the row explains.
constexpr double fold_in_tolerance = 1e-12;

}  // namespace

RowFoldIn::RowFoldIn(MatrixView<const float> Z, std::span<const float> column_weights) {
  const std::unique_ptr<Backend> backend = here();
  const Lent factors(*backend, Z);
  EigenPairs eigen = backend->symmetric_eigenpairs(backend->factor_gram(factors.view(), column_weights));
  sigma_ = std::move(eigen.s);
  E_ = std::move(eigen.Q);
  for (double& s : sigma_) s = s > dead_direction * sigma_.front() ? s : 0.0;
  Resident<float> rotated(*backend, Z.rows, Z.cols);
  backend->combine_rows(factors.view(), E_, rotated.view(), {});
  rotated_ = rotated.take();
  for (std::int64_t k = 0; k < Z.cols; ++k) {
    if (sigma_[k] > 0) continue;
    for (std::int64_t r = 0; r < Z.rows; ++r) rotated_(r, k) = 0;
  }
}

void RowFoldIn::fold_in(Backend& backend, In<float> rotated, CsrView rows, const Weights& W,
                        const WmfLambda& lambda, Out<float> y, const Execution& execution) const {
  backend.combine(std::span<const Term<float>>(), y);
  const RowEntries entries = make_row_entries(rows, W, execution);
  std::vector<double> lambdas;
  for (std::int64_t r = 0; r < rows.rows; ++r) lambdas.push_back(lambda.of(rows.row_size(r), rows.cols));
  RowSystems systems = systems_of(entries, W, W.a, rotated, sigma_);
  systems.lambdas = lambdas;
  static_cast<void>(backend.solve_rows(systems, y, {.relative = fold_in_tolerance}));
}

Matrix<float> RowFoldIn::fold_in_original(CsrView rows, const Weights& W, const WmfLambda& lambda) const {
  const std::unique_ptr<Backend> backend = here();
  Resident<float> y(*backend, rows.rows, rotated_.cols());
  fold_in(*backend, Lent(*backend, rotated()).view(), rows, W, lambda, y.view(),
          {.threads = 1, .observer = nullptr});
  backend->multiply_rows(y.view(), transposed(E_));
  return y.take();
}

}  // namespace poise
