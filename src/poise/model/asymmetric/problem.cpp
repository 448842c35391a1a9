#include "poise/model/asymmetric/problem.hpp"

namespace poise {

AsymmetricProblem make_asymmetric_problem(CsrView X, const Weights& W, Regularizer regularizer, double lambda,
                                          Backend& backend, const Execution& execution,
                                          Processes* processes) {
  AsymmetricProblem problem;
  problem.X = X;
  problem.X.values = {};
  problem.W = &W;
  problem.regularizer = regularizer;
  problem.lambda = lambda;
  problem.users = make_row_entries(X, W, execution);
  hold_once(problem.users, processes);
  problem.items = transpose(problem.users, execution);
  hold_once(problem.items, processes);
  if (problem.users.indices.size() != static_cast<std::size_t>(X.entries()))
    problem.own_transpose = transpose(problem.X, execution.threads);
  problem.pins.push_back(backend.pin(problem.X));
  if (problem.own_transpose.rows > 0) problem.pins.push_back(backend.pin(problem.own_transpose.view()));
  pin(problem.users, backend, problem.pins);
  pin(problem.items, backend, problem.pins);
  return problem;
}

void complete(const AsymmetricProblem& problem, AsymmetricPoint& point, Backend& backend) {
  if (point.Z.rows() != problem.X.rows || point.Z.cols() != point.rank())
    point.Z = Resident<float>(backend, problem.X.rows, point.rank());
  backend.spmm(problem.X, point.U.view(), point.Z.view());
  point.Z_gram = backend.factor_gram(point.Z.view(), problem.W->a);
  const std::int64_t entries = problem.users.view().entries();
  if (point.scores.rows() == 0) point.scores = Resident<float>(backend, 1, entries);
  backend.sampled_dots(problem.users.view(), point.Z.view(), point.V.view(), only_row(point.scores));
}

}  // namespace poise
