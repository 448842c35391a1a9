#include "poise/solver/column_probes.hpp"

#include <algorithm>
#include <utility>

namespace poise {

namespace {

/// Columns that are widened at a time where nothing but products is made of them: they stay in a cache. The
/// sparse part takes all that it is given, so that a GPU has enough to do.
constexpr std::int64_t columns_to_add = 64;
constexpr std::int64_t columns_to_dot = 256;

Tiling parts_of(const ColumnProblem& problem, std::int64_t count, std::int64_t size) {
  return {count, problem.columns.entries() > 0 ? std::max<std::int64_t>(count, 1) : size};
}

/// beta in float64, in the first rows of `room`.
MatrixView<double> widened(MatrixView<const float> beta, Resident<double>& room, Backend& backend) {
  if (room.rows() < beta.rows) room = Resident<double>(backend, beta.rows, beta.cols);
  const MatrixView<double> wide = room.view().block(0, beta.rows);
  backend.copy(beta, wide);
  return wide;
}

/// q = e_i - beta, in the place of beta.
void to_q(std::span<const std::int32_t> items, MatrixView<double> beta, Backend& backend) {
  std::vector<double> own(items.size());
  backend.get_entries(MatrixView<const double>(beta), {}, items, own);
  for (double& entry : own) entry = 1 - entry;
  backend.combine(std::vector<Term<double>>{{.x = beta, .scale = -1}}, beta);
  backend.set_entries(beta, items, own);
}

/// C_i q_i for each row.
Resident<double> sparse_part(const ColumnProblem& problem, std::span<const std::int32_t> items,
                             MatrixView<const double> q, Backend& backend) {
  Resident<double> result(backend, q.rows, q.cols);
  backend.column_hessian(problem.X, problem.columns.view(), items, q, result.view());
  return result;
}

}  // namespace

ColumnProbes::ColumnProbes(const SharedSystem& A, Matrix<double> z, Backend& backend)
    : A_(A), problem_(A.problem()), z_(std::move(z)), backend_(backend), Bz_(backend, z_.rows(), z_.cols()) {
  if (!problem_.W->b.empty()) qbz_ = Resident<double>(backend, z_.rows(), z_.cols());
  if (problem_.columns.entries() > 0) Cqbz_ = Resident<double>(backend, z_.rows(), z_.cols());
}

void ColumnProbes::add(std::span<const std::int32_t> items, MatrixView<const float> beta) {
  const Tiling parts = parts_of(problem_, beta.rows, columns_to_add);
  for (std::int64_t part = 0; part < parts.tiles(); ++part) {
    const std::int64_t first = parts.first(part);
    const std::int64_t count = parts.last(part) - first;
    add_part(items.subspan(first, count), beta.block(first, count));
  }
}

void ColumnProbes::add_part(std::span<const std::int32_t> items, MatrixView<const float> beta) {
  const auto count = static_cast<std::int64_t>(items.size());
  Matrix<double> z(count, z_.cols());
  Matrix<double> bz(count, z_.cols());
  for (std::int64_t k = 0; k < count; ++k) {
    for (std::int64_t p = 0; p < z_.cols(); ++p) {
      z(k, p) = z_(items[k], p);
      bz(k, p) = problem_.W->b_of(items[k]) * z(k, p);
    }
  }
  const MatrixView<double> wide = widened(beta, room_, backend_);
  backend_.gemm(Op::transpose, Op::none, 1.0, MatrixView<const double>(wide), z.view(), 1.0, Bz_.view());
  if (qbz_.rows() > 0)
    backend_.gemm(Op::transpose, Op::none, -1.0, MatrixView<const double>(wide), bz.view(), 1.0, qbz_.view());
  if (Cqbz_.rows() == 0) return;
  to_q(items, wide, backend_);
  const Resident<double> Cq = sparse_part(problem_, items, wide, backend_);
  backend_.gemm(Op::transpose, Op::none, 1.0, Cq.view(), bz.view(), 1.0, Cqbz_.view());
}

Matrix<double> ColumnProbes::residuals() const {
  const Matrix<double> Bz = Bz_.home();
  Matrix<double> v = qbz_.rows() > 0 ? qbz_.home() : Matrix<double>(Bz.rows(), Bz.cols());
  for (std::int64_t i = 0; i < v.rows(); ++i) {
    const double b = problem_.W->b_of(i);
    for (std::int64_t p = 0; p < v.cols(); ++p) v(i, p) += b * z_(i, p) - (qbz_.rows() > 0 ? 0.0 : Bz(i, p));
  }
  Matrix<double> y = A_.background(v);
  const Matrix<double> Cq = Cqbz_.rows() > 0 ? Cqbz_.home() : Matrix<double>();
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    for (std::int64_t p = 0; p < y.cols(); ++p)
      y(i, p) += (Cq.rows() > 0 ? Cq(i, p) : 0.0) - problem_.l[i] * Bz(i, p);
  }
  return y;
}

namespace {

/// A vector e, and what A makes of it.
struct Applied {
  const Matrix<double>& e;
  const Matrix<double>& data;  ///< G e, or G e + Lambda e where no column has a weight b_i of its own
  const Matrix<double>& Lambda_e;
};

/// rho_i . e = b_i (q_i . G e + C_i q_i . e) + q_i . Lambda e - (Lambda e)_i.
Matrix<double> dots_of_part(const ColumnProblem& problem, std::span<const std::int32_t> items,
                            MatrixView<const float> beta, const Applied& applied, Resident<double>& room,
                            Backend& backend) {
  const auto count = static_cast<std::int64_t>(items.size());
  const MatrixView<double> q = widened(beta, room, backend);
  to_q(items, q, backend);
  const auto product = [&](MatrixView<const double> rows, const Matrix<double>& e, double keep,
                           Matrix<double>& out) {
    backend.gemm(Op::none, Op::none, 1.0, rows, e.view(), keep, out.view());
  };
  Matrix<double> data(count, applied.e.cols());
  Matrix<double> penalty;
  product(q, applied.data, 0.0, data);
  if (!problem.W->b.empty()) {
    penalty = Matrix<double>(count, applied.e.cols());
    product(q, applied.Lambda_e, 0.0, penalty);
  }
  if (problem.columns.entries() > 0) {
    const Resident<double> Cq = sparse_part(problem, items, q, backend);
    product(Cq.view(), applied.e, 1.0, data);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const double b = problem.W->b_of(items[k]);
    for (std::int64_t p = 0; p < data.cols(); ++p) {
      data(k, p) =
          b * data(k, p) + (penalty.rows() > 0 ? penalty(k, p) : 0.0) - applied.Lambda_e(items[k], p);
    }
  }
  return data;
}

}  // namespace

Matrix<double> residual_dots(const SharedSystem& A, std::span<const std::int32_t> items,
                             MatrixView<const float> beta, const InverseForms& forms, Backend& backend) {
  const ColumnProblem& problem = A.problem();
  Matrix<double> Lambda_e = forms.e;
  Matrix<double> data = forms.background;
  for (std::int64_t i = 0; i < Lambda_e.rows(); ++i) {
    for (std::int64_t p = 0; p < Lambda_e.cols(); ++p) {
      Lambda_e(i, p) *= problem.l[i];
      if (problem.W->b.empty()) data(i, p) += Lambda_e(i, p);
    }
  }
  Matrix<double> dots(beta.rows, forms.e.cols());
  Resident<double> room;
  const Tiling parts = parts_of(problem, beta.rows, columns_to_dot);
  for (std::int64_t part = 0; part < parts.tiles(); ++part) {
    const std::int64_t first = parts.first(part);
    const std::int64_t count = parts.last(part) - first;
    const Matrix<double> some = dots_of_part(problem, items.subspan(first, count), beta.block(first, count),
                                             {forms.e, data, Lambda_e}, room, backend);
    for (std::int64_t k = 0; k < count; ++k)
      std::copy(some.row(k).begin(), some.row(k).end(), dots.row(first + k).begin());
  }
  return dots;
}

}  // namespace poise
