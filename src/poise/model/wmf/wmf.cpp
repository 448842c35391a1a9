#include "poise/model/wmf/wmf.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "poise/backend/resident.hpp"
#include "poise/base/error.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/dense_kernels.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/linalg/serial_blas.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/solver/row_entries.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {
namespace {

/// On the calling thread.
std::unique_ptr<Backend> here() { return make_backend(BackendKind::cpu, 1); }
/// The precision of float32, relative to the weight that the row explains.
constexpr double fold_in_tolerance = 1e-12;

std::vector<float> item_weights(const FoldInWeighting& weighting, std::int64_t items) {
  std::vector<float> b;
  for (std::int64_t i = 0; i < items; ++i) b.push_back(weighting.b(i));
  if (std::ranges::all_of(b, [](float weight) { return weight == 1.0F; })) b.clear();
  return b;
}

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

Wmf::Wmf(MatrixView<const float> V, std::shared_ptr<const void> owner, WmfTraining training)
    : V_(V),
      owner_(std::move(owner)),
      training_(std::move(training)),
      weighting_(training_.users, training_.item_users, training_.weighting),
      rows_(V, item_weights(weighting_, V.rows)) {
  assert(static_cast<std::int64_t>(training_.item_users.size()) == V.rows);
}

ScoreRows Wmf::on(Backend& backend, const Execution& execution) const {
  return [this, &backend, execution, V = Lent(backend, rows_.rotated())](
             const UserRows& histories, std::int64_t first, Out<float> scores) {
    refuse_dislike_share(histories);
    const UserRows block = histories.block(first, scores.rows);
    const Csr some = copy_of(block.items);
    Resident<float> U(backend, some.rows, rank());
    rows_.fold_in(backend, V.view(), some.view(), weighting_.weights({some.view(), block.disliked}),
                  training_.lambda, U.view(), execution);
    backend.factor_scores(readable(U), V.view(), scores);
  };
}

Matrix<float> Wmf::fold_in(const UserRows& histories) const {
  return rows_.fold_in_original(histories.items, weighting_.weights(histories), training_.lambda);
}

double Wmf::operations(CsrView histories) const {
  // Products in float64, and some tens of gathered operations for each number of a history's factors.
  const auto d = static_cast<double>(rank());
  return 4 * static_cast<double>(histories.rows) * static_cast<double>(items()) * d +
         100 * static_cast<double>(histories.entries()) * d;
}

std::vector<double> Wmf::contributions(std::span<const std::int32_t> history, std::span<const float> values,
                                       std::span<const std::int32_t> disliked, std::int32_t item) const {
  const auto size = static_cast<std::int64_t>(history.size());
  const MatrixView<const float> Z = rows_.rotated();
  const std::int64_t d = Z.cols;
  const double a = weighting_.a(size);
  const double lambda = training_.lambda.of(size, V_.rows);
  // D^-1/2 H D^-1/2, as in training's direct route; directions without weight or penalty stay out.
  std::vector<double> scale(d, 0.0);
  for (std::int64_t k = 0; k < d; ++k) {
    const double D = a * rows_.sigma()[k] + lambda;
    if (D > 0) scale[k] = 1 / std::sqrt(D);
  }
  const auto scaled = [&](std::int64_t i) {
    std::vector<double> row(d);
    for (std::int64_t k = 0; k < d; ++k) row[k] = scale[k] * static_cast<double>(Z(i, k));
    return row;
  };
  Matrix<double> K(d, d);
  for (std::int64_t k = 0; k < d; ++k) K(k, k) = 1;
  const auto weight = [&](std::int64_t e) {
    const double value = values.empty() ? 1.0 : values[e];
    if (!weighting_.accepts(value))
      fail(ErrorKind::input, "the value {} of a history's item cannot be weighted by this model", value);
    return weighting_.weight(history[e], value);
  };
  const auto add = [&](double c, std::int32_t j) {
    const std::vector<double> z = scaled(j);
    for (std::int64_t r = 0; r < d; ++r) {
      for (std::int64_t k = r; k < d; ++k) K(r, k) += c * z[r] * z[k];
    }
  };
  const auto background = [&](std::int32_t j) { return a * static_cast<double>(weighting_.b(j)); };
  for (std::int64_t e = 0; e < size; ++e) add(weight(e) - background(history[e]), history[e]);
  for (const std::int32_t j : disliked) {
    if (std::ranges::find(history, j) == history.end())
      add(background(j) * (weighting_.of_disliked() - 1), j);
  }
  const SerialBlas serial;
  std::vector<double> x = scaled(item);
  const MatrixView<double> column{x.data(), d, 1, 1};
  if (!dense::factor_upper(K.view()))
    fail(ErrorKind::numerical, "the system of this history is singular in float64");
  dense::solve_upper(CblasLeft, CblasTrans, 1.0, K.view(), column);
  dense::solve_upper(CblasLeft, CblasNoTrans, 1.0, K.view(), column);
  std::vector<double> result;
  for (std::int64_t e = 0; e < size; ++e) {
    const std::vector<double> z = scaled(history[e]);
    result.push_back(weight(e) * dot<double, double>(x, z));
  }
  return result;
}

void Wmf::similarity(std::int32_t item, std::span<float> scores) const {
  const auto of_item = V_.row(item);
  const double size = std::sqrt(dot(of_item, of_item));
  for (std::int64_t i = 0; i < V_.rows; ++i) {
    const auto row = V_.row(i);
    const double sizes = size * std::sqrt(dot(row, row));
    scores[i] = sizes > 0 ? static_cast<float>(dot(of_item, row) / sizes) : 0.0F;
  }
}

void Wmf::similarities(std::span<const std::int32_t> items, MatrixView<float> near) const {
  std::vector<double> sizes;
  for (const std::int32_t item : items) sizes.push_back(std::sqrt(dot(V_.row(item), V_.row(item))));
  for (std::size_t a = 0; a < items.size(); ++a) {
    const auto row = near.row(static_cast<std::int64_t>(a));
    for (std::size_t b = 0; b < items.size(); ++b) {
      const double both = sizes[a] * sizes[b];
      row[b] = both > 0 ? static_cast<float>(dot(V_.row(items[a]), V_.row(items[b])) / both) : 0.0F;
    }
  }
}

}  // namespace poise
