#include "poise/solver/kronecker.hpp"

#include <algorithm>
#include <cassert>

namespace poise {
namespace {

/// The n x d block whose rows lie one after the other in a single row.
template <class T>
DeviceView<T> unrolled(const UProblem& problem, DeviceView<T> vector) {
  const std::int64_t rows = problem.V.rows;
  const std::int64_t stride = rows == 0 ? 0 : vector.cols / rows;
  assert(vector.rows == 1 && vector.cols == rows * stride && stride >= problem.V.cols);
  return {vector.data, rows, problem.V.cols, stride};
}

double reciprocal(double value) { return value > 0 ? 1 / value : 0; }

}  // namespace

KroneckerSystem::KroneckerSystem(const UProblem& problem, Backend& backend)
    : problem_(problem),
      backend_(backend),
      a_(problem.a.begin(), problem.a.end()),
      T_(backend, problem.X.rows, problem.V.cols),
      S_(backend, problem.X.rows, problem.V.cols) {}

void KroneckerSystem::fill_S(bool with_target) {
  std::vector<Term<float>> terms = {{.x = T_.view(), .scale = -1, .rows = a_, .cols = problem_.nu}};
  if (problem_.data_metric) terms.push_back({.x = T_.view(), .scale = -problem_.lambda});
  backend_.combine(terms, S_.view());
  const RowEntries& entries = *problem_.entries;
  const std::span<const float> w = with_target ? std::span<const float>(entries.w) : std::span<const float>();
  if (with_target || !entries.c.empty()) {
    backend_.sampled_product(entries.view(), w, entries.c, T_.view(), problem_.V, S_.view());
  }
}

void KroneckerSystem::apply(const Vectors<float>& p, Out<float> out) {
  const auto P = unrolled(problem_, p.x);
  const auto result = unrolled(problem_, out);
  backend_.spmm(problem_.X, P, T_.view());
  fill_S(false);
  backend_.spmm(problem_.X_transposed, S_.view(), result);
  std::vector<Term<float>> terms = {{.x = result, .scale = -1}};
  if (!problem_.data_metric) terms.push_back({.x = P, .scale = problem_.lambda});
  backend_.combine(terms, result);
}

void KroneckerSystem::residual(In<float> U, Out<float> r) {
  backend_.spmm(problem_.X, U, T_.view());
  fill_S(true);
  backend_.spmm(problem_.X_transposed, S_.view(), r);
  if (problem_.data_metric) return;
  backend_.combine(std::vector<Term<float>>{{.x = r}, {.x = U, .scale = -problem_.lambda}}, r);
}

KroneckerPreconditioner::KroneckerPreconditioner(const UProblem& problem, const LeftFactor& left,
                                                 Backend& backend)
    : problem_(problem), left_(left), backend_(backend) {}

void KroneckerPreconditioner::apply(const Vectors<float>& r, Out<float> z) {
  if (left_.has_inverse()) {
    by_inverse(unrolled(problem_, r.x), unrolled(problem_, z));
  } else {
    by_eigenpairs(unrolled(problem_, r.x), unrolled(problem_, z));
  }
}

void KroneckerPreconditioner::by_inverse(In<float> r, Out<float> z) {
  const std::int64_t d = r.cols;
  std::vector<double> scale(d);
  for (std::int64_t j = 0; j < d; ++j) {
    const double nu = problem_.nu[j];
    scale[j] =
        reciprocal(problem_.data_metric ? left_.kappa * nu + problem_.lambda : std::min(nu, left_.kappa));
  }
  if (left_.inverse64.rows() > 0) {
    Resident<double> wide(backend_, r.rows, d);
    Resident<double> product(backend_, r.rows, d);
    backend_.copy(r, wide.view());
    backend_.gemm(Op::none, Op::none, 1.0, left_.inverse64.view(), wide.view(), 0.0, product.view());
    backend_.combine(std::vector<Term<double>>{{.x = product.view(), .cols = scale}}, product.view());
    backend_.copy(product.view(), z);
    return;
  }
  backend_.gemm(Op::none, Op::none, 1.0F, left_.inverse.view(), r, 0.0F, z);
  backend_.combine(std::vector<Term<float>>{{.x = z, .cols = scale}}, z);
}

void KroneckerPreconditioner::by_eigenpairs(In<float> r, Out<float> z) {
  const std::int64_t d = r.cols;
  const In<float> Q = left_.Q.view();
  Resident<float> coefficients(backend_, Q.cols, d);
  backend_.gemm(Op::transpose, Op::none, 1.0F, Q, r, 0.0F, coefficients.view());
  if (!left_.complete) {
    // z = (I - QQ') r / lambda. Projected twice, because rounding errors along the first pairs would be
    // divided by lambda.
    backend_.copy(r, z);
    backend_.gemm(Op::none, Op::none, -1.0F, Q, coefficients.view(), 1.0F, z);
    Resident<float> left_over(backend_, Q.cols, d);
    backend_.gemm(Op::transpose, Op::none, 1.0F, Q, z, 0.0F, left_over.view());
    backend_.gemm(Op::none, Op::none, -1.0F, Q, left_over.view(), 1.0F, z);
    backend_.combine(std::vector<Term<float>>{{.x = z, .scale = reciprocal(problem_.lambda)}}, z);
  }
  backend_.divide_by_products(coefficients.view(), left_.s, problem_.nu, problem_.lambda);
  backend_.gemm(Op::none, Op::none, 1.0F, Q, coefficients.view(), left_.complete ? 0.0F : 1.0F, z);
}

}  // namespace poise
