#include "poise/solver/kronecker.hpp"

#include <algorithm>
#include <cassert>

namespace poise {
namespace {

constexpr std::int64_t rows_per_tile = 256;

template <class Body>
void for_each_row(std::int64_t rows, const Execution& execution, const Body& body) {
  const Tiling tiling{rows, rows_per_tile};
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    for (std::int64_t row = tiling.first(tile); row < tiling.last(tile); ++row) body(row);
  });
}

/// The n x d block whose rows stand one after the other in a single row.
template <class T>
MatrixView<T> unrolled(const UProblem& problem, MatrixView<T> vector) {
  assert(vector.rows == 1 && vector.cols == problem.unknowns());
  return {vector.data, problem.V.rows, problem.V.cols, problem.V.cols};
}

double reciprocal(double value) { return value > 0 ? 1 / value : 0; }

}  // namespace

KroneckerSystem::KroneckerSystem(const UProblem& problem, Backend& backend, const Execution& execution)
    : problem_(problem),
      backend_(backend),
      execution_(execution),
      T_(problem.X.rows, problem.V.cols),
      S_(problem.X.rows, problem.V.cols) {}

void KroneckerSystem::fill_S(bool with_target) {
  const std::int64_t d = problem_.V.cols;
  const double lambda = problem_.data_metric ? problem_.lambda : 0;
  for_each_row(problem_.X.rows, execution_, [&](std::int64_t u) {
    const double a = problem_.a.empty() ? 1.0 : problem_.a[u];
    for (std::int64_t j = 0; j < d; ++j) {
      S_(u, j) = static_cast<float>(-(a * problem_.nu[j] + lambda) * T_(u, j));
    }
  });
  const RowEntries& entries = *problem_.entries;
  const std::span<const float> w = with_target ? std::span<const float>(entries.w) : std::span<const float>();
  if (with_target || !entries.c.empty()) {
    backend_.sampled_product(entries.view(), w, entries.c, T_.view(), problem_.V, S_.view());
  }
}

void KroneckerSystem::apply(std::span<const std::int32_t> /*systems*/, MatrixView<const float> p,
                            MatrixView<const float> /*Mp*/, MatrixView<float> out) {
  const auto P = unrolled(problem_, p);
  const auto result = unrolled(problem_, out);
  backend_.spmm(problem_.X, P, T_.view());
  fill_S(false);
  backend_.spmm(problem_.X_transposed, S_.view(), result);
  const double lambda = problem_.data_metric ? 0 : problem_.lambda;
  for_each_row(P.rows, execution_, [&](std::int64_t i) {
    for (std::int64_t j = 0; j < P.cols; ++j) {
      result(i, j) = static_cast<float>(lambda * P(i, j) - result(i, j));
    }
  });
}

void KroneckerSystem::residual(MatrixView<const float> U, MatrixView<float> r) {
  backend_.spmm(problem_.X, U, T_.view());
  fill_S(true);
  backend_.spmm(problem_.X_transposed, S_.view(), r);
  if (problem_.data_metric) return;
  for_each_row(U.rows, execution_, [&](std::int64_t i) {
    for (std::int64_t j = 0; j < U.cols; ++j) {
      r(i, j) = static_cast<float>(r(i, j) - problem_.lambda * U(i, j));
    }
  });
}

KroneckerPreconditioner::KroneckerPreconditioner(const UProblem& problem, const LeftFactor& left,
                                                 Backend& backend, const Execution& execution)
    : problem_(problem), left_(left), backend_(backend), execution_(execution) {}

void KroneckerPreconditioner::apply(std::span<const std::int32_t> /*systems*/, MatrixView<const float> r,
                                    MatrixView<float> z) {
  if (left_.has_inverse()) {
    by_inverse(unrolled(problem_, r), unrolled(problem_, z));
  } else {
    by_eigenpairs(unrolled(problem_, r), unrolled(problem_, z));
  }
}

void KroneckerPreconditioner::by_inverse(MatrixView<const float> r, MatrixView<float> z) {
  const std::int64_t d = r.cols;
  std::vector<double> scale(d);
  for (std::int64_t j = 0; j < d; ++j) {
    const double nu = problem_.nu[j];
    scale[j] =
        reciprocal(problem_.data_metric ? left_.kappa * nu + problem_.lambda : std::min(nu, left_.kappa));
  }
  if (left_.inverse64.rows() > 0) {
    Matrix<double> wide(r.rows, d);
    Matrix<double> product(r.rows, d);
    for_each_row(r.rows, execution_,
                 [&](std::int64_t i) { std::copy_n(r.row(i).begin(), d, wide.row(i).begin()); });
    backend_.gemm(Op::none, Op::none, 1.0, left_.inverse64.view(), wide.view(), 0.0, product.view());
    for_each_row(r.rows, execution_, [&](std::int64_t i) {
      for (std::int64_t j = 0; j < d; ++j) z(i, j) = static_cast<float>(scale[j] * product(i, j));
    });
    return;
  }
  backend_.gemm(Op::none, Op::none, 1.0F, left_.inverse.view(), r, 0.0F, z);
  for_each_row(r.rows, execution_, [&](std::int64_t i) {
    for (std::int64_t j = 0; j < d; ++j) z(i, j) = static_cast<float>(scale[j] * z(i, j));
  });
}

void KroneckerPreconditioner::by_eigenpairs(MatrixView<const float> r, MatrixView<float> z) {
  const std::int64_t d = r.cols;
  const MatrixView<const float> Q = left_.Q.view();
  Matrix<float> coefficients(Q.cols, d);
  backend_.gemm(Op::transpose, Op::none, 1.0F, Q, r, 0.0F, coefficients.view());
  if (!left_.complete) {
    // z = (I - QQ') r / lambda. Twice, since what rounding leaves of the first pairs would be divided by
    // lambda.
    for_each_row(r.rows, execution_, [&](std::int64_t i) { std::ranges::copy(r.row(i), z.row(i).begin()); });
    backend_.gemm(Op::none, Op::none, -1.0F, Q, coefficients.view(), 1.0F, z);
    Matrix<float> left_over(Q.cols, d);
    backend_.gemm(Op::transpose, Op::none, 1.0F, Q, z, 0.0F, left_over.view());
    backend_.gemm(Op::none, Op::none, -1.0F, Q, left_over.view(), 1.0F, z);
    const auto scale = static_cast<float>(reciprocal(problem_.lambda));
    for_each_row(r.rows, execution_, [&](std::int64_t i) {
      for (float& entry : z.row(i)) entry *= scale;
    });
  }
  for (std::int64_t i = 0; i < coefficients.rows(); ++i) {
    for (std::int64_t j = 0; j < d; ++j) {
      const double divisor = left_.s[i] * problem_.nu[j] + problem_.lambda;
      coefficients(i, j) = static_cast<float>(reciprocal(divisor) * coefficients(i, j));
    }
  }
  backend_.gemm(Op::none, Op::none, 1.0F, Q, coefficients.view(), left_.complete ? 0.0F : 1.0F, z);
}

}  // namespace poise
