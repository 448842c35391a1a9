#include "poise/solver/weighted_errors.hpp"

#include <algorithm>
#include <utility>

#include "poise/backend/resident.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/solver/column_parts.hpp"

namespace poise {

namespace {

/// The support of these rows; the others are empty.
Csr rows_of(CsrView all, std::span<const std::int32_t> rows) {
  Csr some{.rows = all.rows, .cols = all.cols, .offsets = std::vector<std::int64_t>(all.rows + 1, 0)};
  for (const std::int32_t i : rows) some.offsets[i + 1] = all.row_size(i);
  for (std::int64_t i = 0; i < all.rows; ++i) some.offsets[i + 1] += some.offsets[i];
  some.indices.resize(some.offsets.back());
  for (const std::int32_t i : rows) std::ranges::copy(all.row(i), some.indices.begin() + some.offsets[i]);
  return some;
}

}  // namespace

WeightedErrors::WeightedErrors(const ColumnProblem& problem, CsrView users_of, Backend& backend,
                               const Execution& execution, const ColumnShare* share)
    : problem_(problem),
      X_(problem.X),
      users_of_(users_of),
      backend_(backend),
      execution_(execution),
      share_(share),
      kept_(backend.traits().cheap_gathers) {
  X_.values = {};
  users_of_.values = {};
  if (!kept_ || empty()) return;
  if (share != nullptr) own_ = rows_of(problem.columns.view(), share->own());
  high_.resize(own().entries());
  low_.resize(high_.size());
}

CsrView WeightedErrors::part(const std::vector<float>& values) const {
  CsrView view = own();
  view.values = values;
  return view;
}

/// Added up over all processes.
Matrix<double> WeightedErrors::of_all(Matrix<double> of_own) const {
  if (share_ != nullptr)
    share_->add_up(std::span(of_own.view().data, static_cast<std::size_t>(of_own.rows() * of_own.cols())));
  return of_own;
}

void WeightedErrors::add(std::span<const std::int32_t> items, In<float> beta,
                         std::span<const double> scores) {
  if (!kept_ || empty()) return;
  const CsrView columns = problem_.columns.view();
  const std::span<const std::int64_t> to = own().offsets;
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
      const std::int64_t at = to[i] + static_cast<std::int64_t>(e);
      high_[at] = static_cast<float>(error);
      low_[at] = static_cast<float>(error - static_cast<double>(high_[at]));
    }
  });
}

template <class Body>
void WeightedErrors::for_each_block(SavedColumns columns, const Body& body) const {
  constexpr std::int64_t columns_at_a_time = 1024;
  const In<float> rows = columns.rows;
  const std::vector<std::int32_t> all =
      share_ == nullptr ? numbers_from(0, rows.rows) : std::vector<std::int32_t>();
  const std::span<const std::int32_t> held =
      share_ == nullptr ? std::span<const std::int32_t>(all) : share_->own();
  const Tiling tiling{rows.rows, columns_at_a_time};
  for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
    stop_if_asked(execution_.observer);
    const std::int64_t count = tiling.last(tile) - tiling.first(tile);
    const std::span<const std::int32_t> items = held.subspan(tiling.first(tile), count);
    std::vector<double> own(count);
    std::vector<double> b(count);
    for (std::int64_t k = 0; k < count; ++k) b[k] = problem_.W->b_of(items[k]);
    Resident<double> q(backend_, count, rows.cols);
    Resident<double> errors(backend_, count, rows.cols);
    backend_.copy(rows.block(tiling.first(tile), count), q.view());
    backend_.get_entries(std::as_const(q).view(), {}, items, own);
    for (double& entry : own) entry = 1 - entry;
    backend_.combine(std::vector<Term<double>>{{.x = q.view(), .scale = -1}}, q.view());
    backend_.set_entries(q.view(), items, own);
    backend_.column_hessian(X_, problem_.columns.view(), items, std::as_const(q).view(), errors.view());
    backend_.combine(std::vector<Term<double>>{{.x = errors.view(), .rows = b}}, errors.view());
    body(items, std::as_const(errors).view());
  }
}

Matrix<double> WeightedErrors::products(SavedColumns columns, const Matrix<double>& z) const {
  return of_all(own_products(columns, z));
}

Matrix<double> WeightedErrors::own_products(SavedColumns columns, const Matrix<double>& z) const {
  Matrix<double> result(z.rows(), z.cols());
  if (!kept_) {
    const Lent all(backend_, z);
    Resident<double> sums(backend_, z.rows(), z.cols());
    for_each_block(columns, [&](std::span<const std::int32_t> items, In<double> errors) {
      Resident<double> some(backend_, errors.rows, z.cols());
      backend_.copy_rows(all.view(), items, some.view(), {});
      backend_.gemm(Op::transpose, Op::none, 1.0, errors, readable(some), 1.0, sums.view());
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

Matrix<double> WeightedErrors::dots(SavedColumns columns, const Matrix<double>& e) const {
  return of_all(own_dots(columns, e));
}

Matrix<double> WeightedErrors::own_dots(SavedColumns columns, const Matrix<double>& e) const {
  if (!kept_) {
    Resident<double> result(backend_, e.rows(), e.cols());
    const Lent vectors(backend_, e);
    for_each_block(columns, [&](std::span<const std::int32_t> items, In<double> errors) {
      Resident<double> some(backend_, errors.rows, e.cols());
      backend_.gemm(Op::none, Op::none, 1.0, errors, vectors.view(), 0.0, some.view());
      backend_.copy_rows(readable(some), {}, result.view(), items);
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
