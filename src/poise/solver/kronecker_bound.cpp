#include "poise/solver/kronecker_bound.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/solver/pcg.hpp"

namespace poise {
namespace {

/// The share of the form that conjugate gradients may leave, and how often they are tried.
constexpr double small_remainder = 1e-2;
constexpr int most_steps = 30;
constexpr int most_times = 3;
/// Columns that pass through the data together in float64.
constexpr std::int64_t columns_at_a_time = 32;

double dot(In<double> x, In<double> y, Backend& backend) {
  std::vector<double> dots(x.rows);
  backend.row_dots(x, y, dots);
  return sum_of(dots);
}

/// The bound, and the share of it that comes from s.
struct Bound {
  double form = 0;
  double remainder = 0;
};

/// The bound from an e; `s` receives r - M(e).
Bound bound_from(const UProblem& problem, In<float> r, In<float> e, Out<float> s, Backend& backend) {
  const std::vector<double> a(problem.a.begin(), problem.a.end());
  Bound bound;
  const Tiling tiling{r.cols, columns_at_a_time};
  for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
    const std::int64_t first = tiling.first(tile);
    const std::int64_t count = tiling.last(tile) - first;
    const std::span<const double> nu = problem.nu.subspan(first, count);
    Resident<double> of_r(backend, r.rows, count);
    Resident<double> of_e(backend, r.rows, count);
    Resident<double> Me(backend, r.rows, count);
    Resident<double> Xe(backend, problem.X.rows, count);
    backend.copy(r.columns(first, count), of_r.view());
    backend.copy(e.columns(first, count), of_e.view());
    backend.spmm(problem.X, std::as_const(of_e).view(), Xe.view());
    backend.combine(std::vector<Term<double>>{{.x = Xe.view(), .rows = a, .cols = nu}}, Xe.view());
    backend.spmm(problem.X_transposed, std::as_const(Xe).view(), Me.view());
    const double re = dot(std::as_const(of_r).view(), std::as_const(of_e).view(), backend);
    Resident<double>& of_s = of_r;
    backend.combine(
        std::vector<Term<double>>{
            {.x = of_r.view()}, {.x = Me.view(), .scale = -1}, {.x = of_e.view(), .scale = -problem.lambda}},
        of_s.view());
    const double es = dot(std::as_const(of_e).view(), std::as_const(of_s).view(), backend);
    const double ss = dot(std::as_const(of_s).view(), std::as_const(of_s).view(), backend);
    bound.remainder += ss / problem.lambda;
    bound.form += re + es + ss / problem.lambda;
    backend.copy(std::as_const(of_s).view(), s.columns(first, count));
  }
  return bound;
}

}  // namespace

double bound_inverse_form(const UProblem& problem, const LeftFactor& left, Resident<float>& r,
                          Backend& backend) {
  KroneckerPreconditioner P(problem, left, backend);
  Resident<float> e(backend, r.rows(), r.cols());
  if (problem.data_metric || !(problem.lambda > 0)) {
    P.apply({{}, as_row(r)}, as_row(e));
    std::vector<double> dots(r.rows());
    backend.row_dots(std::as_const(r).view(), std::as_const(e).view(), dots);
    return sum_of(dots);
  }
  const RowEntries none;
  UProblem background = problem;
  background.entries = &none;
  KroneckerSystem M(background, backend);
  Resident<float> s = r.clone();
  double best = std::numeric_limits<double>::infinity();
  for (int time = 0; time < most_times; ++time) {
    double first = -1;
    const auto solved = [&](const PcgState& state) {
      if (first < 0) first = state.rz;
      return state.rz <= 1e-2 * small_remainder * first;
    };
    pcg<float>(M, P, {0}, as_row(e), as_row(s), {solved, most_steps}, inner_product<float>(backend), backend,
               nullptr);
    const Bound bound =
        bound_from(problem, std::as_const(r).view(), std::as_const(e).view(), s.view(), backend);
    if (!(bound.form < best)) break;
    best = bound.form;
    if (bound.remainder <= small_remainder * bound.form) break;
  }
  return best;
}

}  // namespace poise
