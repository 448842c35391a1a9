#include "poise/model/asymmetric_steps.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "poise/linalg/vector.hpp"
#include "poise/model/asymmetric_gauge.hpp"

namespace poise {
namespace {

constexpr int most_iterations = 500;

RowSystems row_systems(const AsymmetricProblem& problem, MatrixView<const float> Z,
                       std::span<const double> sigma) {
  return {.factors = Z,
          .sigma = sigma,
          .b = problem.W->b,
          .lambda = problem.lambda,
          .entries = problem.items.view(),
          .c = problem.items.c,
          .w = problem.items.w,
          .lowest = problem.W->lowest,
          .highest = problem.W->highest};
}

UProblem u_problem(const AsymmetricProblem& problem, const Matrix<float>& V, std::span<const double> nu) {
  return {.X = problem.X,
          .X_transposed = problem.X_transposed.view(),
          .entries = &problem.users,
          .a = problem.W->a,
          .V = V.view(),
          .nu = nu,
          .lambda = problem.lambda,
          .data_metric = problem.data_metric()};
}

/// All of a matrix as one row: one system with one inner product.
MatrixView<float> as_row(Matrix<float>& matrix) {
  const std::int64_t size = matrix.rows() * matrix.cols();
  return {matrix.view().data, 1, size, size};
}

}  // namespace

RowsSolved solve_V(const AsymmetricProblem& problem, AsymmetricPoint& point, double tolerance,
                   Backend& backend, const Execution& execution) {
  const Gauge gauge = v_step_gauge(problem, point, backend, execution);
  point.U = changed(point.U, gauge.T, backend);
  point.V = changed(point.V, gauge.T_dual, backend);
  point.Z = Matrix<float>(problem.X.rows, point.rank());
  backend.spmm(problem.X, point.U.view(), point.Z.view());
  return solve_rows(row_systems(problem, point.Z.view(), gauge.values), point.V.view(),
                    {.relative = tolerance}, execution);
}

PcgOutcome solve_U(const AsymmetricProblem& problem, const LeftFactor& left, AsymmetricPoint& point,
                   double excess, Backend& backend, const Execution& execution) {
  const Gauge gauge = u_step_gauge(problem, point.V, backend, execution);
  point.U = changed(point.U, gauge.T, backend);
  point.V = changed(point.V, gauge.T_dual, backend);
  if (point.rank() == 0) return {PcgStatus::solved, 0};
  const UProblem system = u_problem(problem, point.V, gauge.values);
  KroneckerSystem H(system, backend, execution);
  KroneckerPreconditioner M_inverse(system, left, backend, execution);
  Matrix<float> r(point.U.rows(), point.rank());
  H.residual(point.U.view(), r.view());
  const double enough = excess * problem.W->lowest;
  return pcg<float>(
             H, M_inverse, {0}, as_row(point.U), as_row(r),
             [&](const PcgState& state) { return state.rz <= enough; }, most_iterations, backend,
             execution.observer)
      .front();
}

double V_excess(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend,
                const Execution& execution) {
  // In the rotated basis, whose rounding is far below what is measured.
  const Gauge gauge = v_step_gauge(problem, point, backend, execution);
  const Matrix<float> U = changed(point.U, gauge.T, backend);
  const Matrix<float> V = changed(point.V, gauge.T_dual, backend);
  Matrix<float> Z(problem.X.rows, U.cols());
  backend.spmm(problem.X, U.view(), Z.view());
  return check_rows(row_systems(problem, Z.view(), gauge.values), V.view(), {}, {}, execution).excess;
}

double U_excess(const AsymmetricProblem& problem, const LeftFactor& left, const AsymmetricPoint& point,
                Backend& backend, const Execution& execution) {
  const Gauge gauge = u_step_gauge(problem, point.V, backend, execution);
  const Matrix<float> U = changed(point.U, gauge.T, backend);
  const Matrix<float> V = changed(point.V, gauge.T_dual, backend);
  if (U.cols() == 0) return 0;
  const UProblem system = u_problem(problem, V, gauge.values);
  Matrix<float> r(U.rows(), U.cols());
  KroneckerSystem(system, backend, execution).residual(U.view(), r.view());
  Matrix<float> z(U.rows(), U.cols());
  KroneckerPreconditioner(system, left, backend, execution).apply({}, as_row(r), as_row(z));
  const MatrixView<const float> r_row = as_row(r);
  const MatrixView<const float> z_row = as_row(z);
  return std::max(0.0, dot(r_row.row(0), z_row.row(0)) / problem.W->lowest);
}

double unweighted_U_excess(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend,
                           const Execution& execution) {
  const Gauge gauge = u_step_gauge(problem, point.V, backend, execution);
  const Matrix<float> U = changed(point.U, gauge.T, backend);
  const Matrix<float> V = changed(point.V, gauge.T_dual, backend);
  const double lambda = problem.data_metric() ? problem.lambda : 0;
  Matrix<double> D(U.rows(), U.cols());
  for (std::int64_t i = 0; i < U.rows(); ++i) {
    for (std::int64_t j = 0; j < U.cols(); ++j) {
      D(i, j) = V(i, j) - (gauge.values[j] + lambda) * static_cast<double>(U(i, j));
    }
  }
  Matrix<double> XD(problem.X.rows, U.cols());
  backend.spmm(problem.X, MatrixView<const double>(D.view()), XD.view());
  double excess = 0;
  for (std::int64_t u = 0; u < XD.rows(); ++u) {
    for (std::int64_t j = 0; j < XD.cols(); ++j) {
      const double divisor = gauge.values[j] + lambda;
      if (divisor > 0) excess += XD(u, j) * XD(u, j) / divisor;
    }
  }
  return excess;
}

}  // namespace poise
