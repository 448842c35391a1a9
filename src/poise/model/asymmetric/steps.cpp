#include "poise/model/asymmetric/steps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "poise/linalg/vector.hpp"
#include "poise/model/asymmetric/gauge.hpp"
#include "poise/solver/certificate.hpp"
#include "poise/solver/kronecker_bound.hpp"

namespace poise {
namespace {

constexpr int most_iterations = 500;

RowSystems row_systems(const AsymmetricProblem& problem, In<float> Z, std::span<const double> sigma) {
  RowSystems systems = systems_of(problem.items, *problem.W, problem.W->b, Z, sigma);
  systems.lambda = problem.lambda;
  return systems;
}

UProblem u_problem(const AsymmetricProblem& problem, In<float> V, std::span<const double> nu) {
  return {.X = problem.X,
          .X_transposed = problem.X_transposed(),
          .entries = &problem.users,
          .a = problem.W->a,
          .V = V,
          .nu = nu,
          .lambda = problem.lambda,
          .data_metric = problem.data_metric()};
}

/// U and V in another basis.
struct Changed {
  Resident<float> U;
  Resident<float> V;
};

Changed changed(const AsymmetricPoint& point, const Gauge& gauge, Backend& backend) {
  return {changed(point.U.view(), gauge.T, backend), changed(point.V.view(), gauge.T_dual, backend)};
}

void change(AsymmetricPoint& point, const Gauge& gauge, Backend& backend) {
  point.U = changed(point.U.view(), gauge.T, backend);
  point.V = changed(point.V.view(), gauge.T_dual, backend);
}

}  // namespace

RowsSolved solve_V(const AsymmetricProblem& problem, AsymmetricPoint& point, double tolerance,
                   Backend& backend) {
  const Gauge gauge = v_step_gauge(problem, point, backend);
  change(point, gauge, backend);
  point.Z = Resident<float>(backend, problem.X.rows, point.rank());
  backend.spmm(problem.X, point.U.view(), point.Z.view());
  return backend.solve_rows(row_systems(problem, point.Z.view(), gauge.values), point.V.view(),
                            {.relative = tolerance});
}

PcgOutcome solve_U(const AsymmetricProblem& problem, const LeftFactor& left, AsymmetricPoint& point,
                   double excess, Backend& backend, Observer* observer) {
  const Gauge gauge = u_step_gauge(problem, point.V.view(), backend);
  change(point, gauge, backend);
  if (point.rank() == 0) return {PcgStatus::solved, 0};
  const UProblem system = u_problem(problem, point.V.view(), gauge.values);
  KroneckerSystem H(system, backend);
  KroneckerPreconditioner M_inverse(system, left, backend);
  Resident<float> r(backend, point.U.rows(), point.rank());
  H.residual(point.U.view(), r.view());
  const double enough = excess * problem.W->lowest;
  const StoppingRule rule{[&](const PcgState& state) { return state.rz <= enough; }, most_iterations};
  return pcg<float>(H, M_inverse, {0}, as_row(point.U), as_row(r), rule, inner_product<float>(backend),
                    backend, observer)
      .front();
}

double V_excess(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend) {
  // In the rotated basis, whose rounding is far below what is measured.
  const Gauge gauge = v_step_gauge(problem, point, backend);
  const Changed pair = changed(point, gauge, backend);
  Resident<float> Z(backend, problem.X.rows, pair.U.cols());
  backend.spmm(problem.X, pair.U.view(), Z.view());
  return backend.check_rows(row_systems(problem, Z.view(), gauge.values), pair.V.view(), {}, {}).excess;
}

double U_excess(const AsymmetricProblem& problem, const LeftFactor& left, const AsymmetricPoint& point,
                Backend& backend) {
  const Gauge gauge = u_step_gauge(problem, point.V.view(), backend);
  const Changed pair = changed(point, gauge, backend);
  if (pair.U.cols() == 0) return 0;
  const UProblem system = u_problem(problem, pair.V.view(), gauge.values);
  Resident<float> r(backend, pair.U.rows(), pair.U.cols());
  KroneckerSystem(system, backend).residual(pair.U.view(), r.view());
  return usable_excess(bound_inverse_form(system, left, r, backend) / problem.W->lowest);
}

double unweighted_U_excess(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend) {
  const Gauge gauge = u_step_gauge(problem, point.V.view(), backend);
  const Changed pair = changed(point, gauge, backend);
  const double lambda = problem.data_metric() ? problem.lambda : 0;
  std::vector<double> divisors;
  std::vector<double> roots;  // of their reciprocals
  for (const double value : gauge.values) {
    divisors.push_back(value + lambda);
    roots.push_back(divisors.back() > 0 ? 1 / std::sqrt(divisors.back()) : 0);
  }
  Resident<double> D(backend, pair.U.rows(), pair.U.cols());
  {
    Resident<double> V(backend, pair.V.rows(), pair.V.cols());
    backend.copy(pair.U.view(), D.view());
    backend.copy(pair.V.view(), V.view());
    backend.combine(
        std::vector<Term<double>>{{.x = V.view()}, {.x = D.view(), .scale = -1, .cols = divisors}}, D.view());
  }
  Resident<double> XD(backend, problem.X.rows, D.cols());
  backend.spmm(problem.X, std::as_const(D).view(), XD.view());
  backend.combine(std::vector<Term<double>>{{.x = XD.view(), .cols = roots}}, XD.view());
  std::vector<double> squares(XD.rows());
  backend.row_dots(std::as_const(XD).view(), std::as_const(XD).view(), squares);
  return sum_of(squares);
}

}  // namespace poise
