#include "poise/model/asymmetric/acceleration.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "poise/model/asymmetric/gauge.hpp"
#include "poise/model/asymmetric/objective.hpp"

namespace poise {

/// The inner product of two matrices.
double RoundAcceleration::inner(const Resident<float>& A, const Resident<float>& B) const {
  std::vector<double> dots(A.rows());
  backend_.row_dots(A.view(), B.view(), dots);
  return std::accumulate(dots.begin(), dots.end(), 0.0);
}

/// to = plus - minus + beta to.
void RoundAcceleration::combine(const Resident<float>& plus, const Resident<float>& minus, double beta,
                                Resident<float>& to) const {
  std::vector<Term<float>> terms = {{.x = plus.view()}, {.x = minus.view(), .scale = -1}};
  if (beta != 0) terms.push_back({.x = to.view(), .scale = beta});
  backend_.combine(terms, to.view());
}

/// U weighs as much as V in inner products of pairs.
double RoundAcceleration::U_weight(const AsymmetricPoint& point) const {
  const double U = inner(point.U, point.U);
  return U > 0 ? inner(point.V, point.V) / U : 0;
}

void RoundAcceleration::align(const AsymmetricPoint& point, AsymmetricPoint& next) const {
  if (next.rank() != point.rank()) return;
  Matrix<double> product = backend_.factor_product(next.V.view(), {}, point.V.view());
  const Matrix<double> of_U = backend_.factor_product(next.U.view(), {}, point.U.view());
  const double weight = U_weight(point);
  for (std::int64_t i = 0; i < product.rows(); ++i) {
    for (std::int64_t j = 0; j < product.cols(); ++j) product(i, j) += weight * of_U(i, j);
  }
  const Matrix<double> rotation = nearest_rotation(std::move(product), backend_);
  next.U = changed(next.U.view(), rotation, backend_);
  next.V = changed(next.V.view(), rotation, backend_);
}

bool RoundAcceleration::advance(const AsymmetricPoint& next, AsymmetricPoint& point, double& gained) {
  const double weight = U_weight(point);
  AsymmetricPoint gradient{Resident<float>(backend_, next.U.rows(), next.rank()),
                           Resident<float>(backend_, next.V.rows(), next.rank())};
  combine(next.U, point.U, 0, gradient.U);
  combine(next.V, point.V, 0, gradient.V);
  double beta = 0;
  if (step_.rank() == point.rank()) {
    const double mixed = weight * inner(gradient.U, gradient_.U) + inner(gradient.V, gradient_.V);
    const double own = weight * inner(gradient.U, gradient.U) + inner(gradient.V, gradient.V);
    const double former = weight * inner(gradient_.U, gradient_.U) + inner(gradient_.V, gradient_.V);
    beta = former > 0 ? std::max(0.0, (own - mixed) / former) : 0;
  } else {
    step_ = {Resident<float>(backend_, next.U.rows(), next.rank()),
             Resident<float>(backend_, next.V.rows(), next.rank()),
             Resident<float>(backend_, next.Z.rows(), next.rank())};
  }
  gradient_ = std::move(gradient);
  combine(next.U, point.U, beta, step_.U);
  combine(next.V, point.V, beta, step_.V);
  // Not from the former Z: after a round that changed almost nothing beta is large and would enlarge its
  // rounding to a Z that belongs to no U.
  backend_.spmm(problem_.X, step_.U.view(), step_.Z.view());
  const AsymmetricLine line(problem_, point, step_, backend_);
  const double t = line.best();
  if (!(line.decrease(t) > gained)) {
    step_ = {};
    return false;
  }
  line.move(t, step_, point);
  gained = line.decrease(t);
  return true;
}

void RoundAcceleration::save(RoundState& state) const {
  if (step_.rank() == 0) return;
  state.put("step U", step_.U);
  state.put("step V", step_.V);
  state.put("gradient U", gradient_.U);
  state.put("gradient V", gradient_.V);
}

void RoundAcceleration::restore(const RoundState& state) {
  step_ = {};
  if (!state.factors.contains("step U")) return;
  step_ = {state.factor("step U", backend_), state.factor("step V", backend_)};
  step_.Z = Resident<float>(backend_, problem_.X.rows, step_.rank());
  gradient_ = {state.factor("gradient U", backend_), state.factor("gradient V", backend_)};
}

}  // namespace poise
