#include "poise/model/wmf/problem.hpp"

#include <algorithm>

#include "poise/solver/small_products.hpp"

namespace poise {

WmfProblem::WmfProblem(CsrView X, const Weights& W, const WmfOptions& options, Backend& backend,
                       const Execution& execution, Processes* processes)
    : W_(W), lambda_(options.lambda), backend_(backend) {
  users_.entries = make_row_entries(X, W, execution);
  hold_once(users_.entries, processes);
  items_.entries = transpose(users_.entries, execution);
  hold_once(items_.entries, processes);
  users_.weights = W.a;
  items_.weights = W.b;
  if (options.lambda_exponent != 0) {
    const WmfLambda lambda = options.regularization();
    for (std::int64_t r = 0; r < X.rows; ++r) users_.lambdas.push_back(lambda.of(X.row_size(r), X.cols));
    for (const std::int64_t count : column_counts(X)) items_.lambdas.push_back(lambda.of(count, X.rows));
  }
  pin(users_.entries, backend, pins_);
  pin(items_.entries, backend, pins_);
}

RowSystems WmfProblem::systems(const WmfSide& rows, const Resident<float>& factors,
                               std::span<const double> sigma) const {
  RowSystems systems = systems_of(rows.entries, W_, rows.weights, factors.view(), sigma);
  systems.lambda = lambda_;
  systems.lambdas = rows.lambdas;
  return systems;
}

double WmfProblem::penalty(const Resident<float>& Z, const WmfSide& side) const {
  std::vector<double> squares(Z.rows());
  backend_.row_dots(Z.view(), Z.view(), squares);
  double sum = 0;
  for (std::int64_t r = 0; r < Z.rows(); ++r)
    sum += (side.lambdas.empty() ? lambda_ : side.lambdas[r]) * squares[r];
  return sum;
}

double WmfProblem::objective(const WmfPair& pair) const {
  return W_.observed - checked(items_, users_, pair.V, pair.U).explained + penalty(pair.U, users_);
}

CheckedPair WmfProblem::check(const WmfPair& pair) const {
  const RowsChecked users = checked(users_, items_, pair.U, pair.V);
  const RowsChecked items = checked(items_, users_, pair.V, pair.U);
  return {W_.observed - users.explained + penalty(pair.V, items_), std::max(users.excess, items.excess)};
}

RowsChecked WmfProblem::checked(const WmfSide& rows, const WmfSide& fixed, const Resident<float>& solved,
                                const Resident<float>& factors) const {
  const EigenPairs eigen = backend_.symmetric_eigenpairs(backend_.factor_gram(factors.view(), fixed.weights));
  std::vector<double> sigma = eigen.s;
  for (double& s : sigma) s = std::max(0.0, s);
  return backend_.check_rows(systems(rows, factors, sigma), solved.view(), Lent(backend_, eigen.Q).view(),
                             Lent(backend_, transposed(eigen.Q)).view());
}

}  // namespace poise
