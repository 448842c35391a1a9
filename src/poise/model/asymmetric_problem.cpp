#include "poise/model/asymmetric_problem.hpp"

#include "poise/solver/factor_products.hpp"

namespace poise {

AsymmetricProblem make_asymmetric_problem(CsrView X, const Weights& W, Regularizer regularizer, double lambda,
                                          const Execution& execution) {
  AsymmetricProblem problem;
  problem.X = X;
  CsrView support = X;
  support.values = {};
  problem.X_transposed = transpose(support);
  problem.W = &W;
  problem.regularizer = regularizer;
  problem.lambda = lambda;
  problem.X.values = {};
  problem.users = make_row_entries(X, W, execution);
  problem.items = transpose(problem.users, execution);
  return problem;
}

void complete(const AsymmetricProblem& problem, AsymmetricPoint& point, Backend& backend,
              const Execution& execution) {
  point.Z = Matrix<float>(problem.X.rows, point.rank());
  backend.spmm(problem.X, point.U.view(), point.Z.view());
  point.Z_gram = factor_gram(point.Z.view(), problem.W->a, execution);
  point.scores.resize(problem.users.indices.size());
  backend.sampled_dots(problem.users.view(), point.Z.view(), point.V.view(), point.scores);
}

}  // namespace poise
