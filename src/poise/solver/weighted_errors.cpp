#include "poise/solver/weighted_errors.hpp"

#include <algorithm>
#include <utility>

#include "poise/backend/resident.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/solver/column_parts.hpp"

namespace poise {

WeightedErrors::WeightedErrors(const ColumnProblem& problem, CsrView users_of, Backend& backend,
                               const Execution& execution)
    : problem_(problem),
      X_(problem.X),
      users_of_(users_of),
      backend_(backend),
      execution_(execution),
      kept_(backend.traits().cheap_gathers),
      high_(kept_ ? problem.columns.entries() : 0),
      low_(high_.size()) {
  X_.values = {};
  users_of_.values = {};
}

CsrView WeightedErrors::part(const std::vector<float>& values) const {
  CsrView view = problem_.columns.view();
  view.values = values;
  return view;
}

void WeightedErrors::add(std::span<const std::int32_t> items, In<float> beta,
                         std::span<const double> scores) {
  if (!kept_) return;
  const CsrView columns = problem_.columns.view();
  std::vector<std::int64_t> first(items.size() + 1, 0);
  for (std::size_t k = 0; k < items.size(); ++k) first[k + 1] = first[k] + columns.row_size(items[k]);
  std::vector<double> own;
  if (scores.empty()) {
    own.resize(first.back());
    std::vector<double> sums(items.size());
    backend_.column_form(X_, columns, items, beta, sums, own);
    scores = own;
  }
  for_each_tile(static_cast<std::int64_t>(items.size()), execution_.threads, [&](std::int64_t k) {
    const std::int32_t i = items[k];
    const auto users = columns.row(i);
    const auto aC = columns.row_values(i);
    for (std::size_t e = 0; e < users.size(); ++e) {
      const bool there = problem_.on_support_of_X() || std::ranges::binary_search(X_.row(users[e]), i);
      const double x = there ? 1 : 0;
      const double error = problem_.W->b_of(i) * static_cast<double>(aC[e]) * (x - scores[first[k] + e]);
      const std::int64_t at = columns.offsets[i] + static_cast<std::int64_t>(e);
      high_[at] = static_cast<float>(error);
      low_[at] = static_cast<float>(error - static_cast<double>(high_[at]));
    }
  });
}

template <class Body>
void WeightedErrors::for_each_block(In<float> columns, const Body& body) const {
  constexpr std::int64_t columns_at_a_time = 1024;
  const Tiling tiling{columns.rows, columns_at_a_time};
  for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
    stop_if_asked(execution_.observer);
    const std::int64_t count = tiling.last(tile) - tiling.first(tile);
    const std::vector<std::int32_t> items = numbers_from(tiling.first(tile), count);
    std::vector<double> own(count);
    std::vector<double> b(count);
    for (std::int64_t k = 0; k < count; ++k) b[k] = problem_.W->b_of(items[k]);
    Resident<double> q(backend_, count, columns.cols);
    Resident<double> errors(backend_, count, columns.cols);
    backend_.copy(columns.block(items.front(), count), q.view());
    backend_.get_entries(std::as_const(q).view(), {}, items, own);
    for (double& entry : own) entry = 1 - entry;
    backend_.combine(std::vector<Term<double>>{{.x = q.view(), .scale = -1}}, q.view());
    backend_.set_entries(q.view(), items, own);
    backend_.column_hessian(X_, problem_.columns.view(), items, std::as_const(q).view(), errors.view());
    backend_.combine(std::vector<Term<double>>{{.x = errors.view(), .rows = b}}, errors.view());
    body(items, std::as_const(errors).view());
  }
}

Matrix<double> WeightedErrors::products(In<float> columns, const Matrix<double>& z) const {
  Matrix<double> result(z.rows(), z.cols());
  if (!kept_) {
    const Lent all(backend_, z);
    Resident<double> sums(backend_, z.rows(), z.cols());
    for_each_block(columns, [&](std::span<const std::int32_t> items, In<double> errors) {
      const auto some = all.view().block(items.front(), errors.rows);
      backend_.gemm(Op::transpose, Op::none, 1.0, errors, some, 1.0, sums.view());
    });
    return sums.take();
  }
  for (const std::vector<float>* half : {&high_, &low_}) {
    const Csr by_user = transpose(part(*half), execution_.threads);
    const Pin pinned = backend_.pin(by_user.view());
    const Matrix<double> made =
        in_parts(z, backend_, execution_.observer, [&](In<double> part, Out<double> to) {
          Resident<double> Ez(backend_, X_.rows, part.cols);
          backend_.spmm(by_user.view(), part, Ez.view());
          backend_.spmm(users_of_, readable(Ez), to);
        });
    for (std::int64_t i = 0; i < z.rows(); ++i) {
      for (std::int64_t p = 0; p < z.cols(); ++p) result(i, p) += made(i, p);
    }
  }
  return result;
}

Matrix<double> WeightedErrors::dots(In<float> columns, const Matrix<double>& e) const {
  if (!kept_) {
    Resident<double> result(backend_, e.rows(), e.cols());
    const Lent vectors(backend_, e);
    for_each_block(columns, [&](std::span<const std::int32_t> items, In<double> errors) {
      backend_.gemm(Op::none, Op::none, 1.0, errors, vectors.view(), 0.0,
                    result.view().block(items.front(), errors.rows));
    });
    return result.take();
  }
  return in_parts(e, backend_, execution_.observer, [&](In<double> part_of_e, Out<double> to) {
    Resident<double> Xe(backend_, X_.rows, part_of_e.cols);
    backend_.spmm(X_, part_of_e, Xe.view());
    Resident<double> low(backend_, to.rows, to.cols);
    backend_.spmm(part(high_), readable(Xe), to);
    backend_.spmm(part(low_), readable(Xe), low.view());
    backend_.combine(std::vector<Term<double>>{{.x = to}, {.x = low.view()}}, to);
  });
}

}  // namespace poise
