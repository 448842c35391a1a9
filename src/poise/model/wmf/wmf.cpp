#include "poise/model/wmf/wmf.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "poise/backend/resident.hpp"
#include "poise/base/error.hpp"
#include "poise/linalg/dense_kernels.hpp"
#include "poise/linalg/serial_blas.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/model/factor_scores.hpp"

namespace poise {
namespace {

std::vector<float> item_weights(const FoldInWeighting& weighting, std::int64_t items) {
  std::vector<float> b;
  for (std::int64_t i = 0; i < items; ++i) b.push_back(weighting.b(i));
  if (std::ranges::all_of(b, [](float weight) { return weight == 1.0F; })) b.clear();
  return b;
}

/// Rows [first, first + count) with offsets of their own.
Csr rows_of(CsrView matrix, std::int64_t first, std::int64_t count) {
  Csr part{.rows = count, .cols = matrix.cols, .offsets = {0}, .indices = {}, .values = {}};
  for (std::int64_t r = first; r < first + count; ++r) {
    const auto row = matrix.row(r);
    const auto values = matrix.row_values(r);
    part.indices.insert(part.indices.end(), row.begin(), row.end());
    part.values.insert(part.values.end(), values.begin(), values.end());
    part.offsets.push_back(part.entries());
  }
  return part;
}

}  // namespace

Wmf::Wmf(MatrixView<const float> V, std::shared_ptr<const void> owner, WmfTraining training)
    : V_(V),
      owner_(std::move(owner)),
      training_(std::move(training)),
      weighting_(training_.users, training_.item_users, training_.weighting),
      rows_(V, item_weights(weighting_, V.rows)) {
  assert(static_cast<std::int64_t>(training_.item_users.size()) == V.rows);
}

void Wmf::score(CsrView histories, std::int64_t first, MatrixView<float> scores) const {
  const Csr block = rows_of(histories, first, scores.rows);
  const Matrix<float> users = rows_.fold_in(block.view(), weighting_.weights(block.view()), training_.lambda);
  Matrix<double> exact(users.rows(), users.cols());
  for (std::int64_t u = 0; u < users.rows(); ++u) std::ranges::copy(users.row(u), exact.row(u).begin());
  factor_scores(exact.view(), rows_.rotated(), scores);
}

Matrix<float> Wmf::fold_in(CsrView histories) const {
  return rows_.fold_in_original(histories, weighting_.weights(histories), training_.lambda);
}

class Wmf::OnBackend final : public BackendScorer {
 public:
  OnBackend(const Wmf& model, Backend& backend, const Execution& execution)
      : model_(model), backend_(backend), execution_(execution), V_(backend, model.rows_.rotated()) {}
  void score(CsrView histories, MatrixView<float> scores) override {
    const Csr block = rows_of(histories, 0, histories.rows);
    const MatrixView<const float> V = std::as_const(V_).view();
    Resident<float> users(backend_, block.rows, V.cols);
    model_.rows_.fold_in_on(backend_, V, block.view(), model_.weighting_.weights(block.view()),
                            model_.training_.lambda, users.view(), execution_);
    backend_.gemm(Op::none, Op::transpose, 1.0F, std::as_const(users).view(), V, 0.0F, scores);
  }

 private:
  const Wmf& model_;
  Backend& backend_;
  Execution execution_;
  Resident<float> V_;
};

std::unique_ptr<BackendScorer> Wmf::on(Backend& backend, const Execution& execution) const {
  return std::make_unique<OnBackend>(*this, backend, execution);
}

double Wmf::operations(CsrView histories) const {
  // Products in float64, and some tens of gathered operations for each number of a history's factors.
  const auto d = static_cast<double>(rank());
  return 4 * static_cast<double>(histories.rows) * static_cast<double>(items()) * d +
         100 * static_cast<double>(histories.entries()) * d;
}

std::vector<double> Wmf::contributions(std::span<const std::int32_t> history, std::span<const float> values,
                                       std::int32_t item) const {
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
  for (std::int64_t e = 0; e < size; ++e) {
    const std::int32_t j = history[e];
    const std::vector<double> z = scaled(j);
    const double c = weight(e) - a * static_cast<double>(weighting_.b(j));
    for (std::int64_t r = 0; r < d; ++r) {
      for (std::int64_t k = r; k < d; ++k) K(r, k) += c * z[r] * z[k];
    }
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

}  // namespace poise
