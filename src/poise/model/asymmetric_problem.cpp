#include "poise/model/asymmetric_problem.hpp"

#include <algorithm>

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

Matrix<double> weighted_product(MatrixView<const float> A, std::span<const float> w,
                                MatrixView<const float> B, Backend& backend) {
  constexpr std::int64_t panel = 4096;
  Matrix<double> result(A.cols, B.cols);
  const Tiling tiling{A.rows, panel};
  Matrix<double> left(std::min(A.rows, panel), A.cols);
  Matrix<double> right(std::min(A.rows, panel), B.cols);
  for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
    const std::int64_t first = tiling.first(tile);
    const std::int64_t rows = tiling.last(tile) - first;
    for (std::int64_t k = 0; k < rows; ++k) {
      const double weight = w.empty() ? 1.0 : w[first + k];
      for (std::int64_t j = 0; j < A.cols; ++j) left(k, j) = weight * A(first + k, j);
      for (std::int64_t j = 0; j < B.cols; ++j) right(k, j) = B(first + k, j);
    }
    backend.gemm(Op::transpose, Op::none, 1.0, left.view().block(0, rows), right.view().block(0, rows), 1.0,
                 result.view());
  }
  return result;
}

void complete(const AsymmetricProblem& problem, AsymmetricPoint& point, Backend& backend) {
  point.Z = Matrix<float>(problem.X.rows, point.rank());
  backend.spmm(problem.X, point.U.view(), point.Z.view());
  point.Z_gram = weighted_product(point.Z.view(), problem.W->a, point.Z.view(), backend);
  point.scores.resize(problem.users.indices.size());
  backend.sampled_dots(problem.users.view(), point.Z.view(), point.V.view(), point.scores);
}

}  // namespace poise
