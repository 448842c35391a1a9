#include "poise/model/asymmetric/objective.hpp"

#include <algorithm>
#include <utility>

namespace poise {
namespace {

using Quartic = std::array<double, 5>;

/// tr(A B) for square A and symmetric B.
double trace(const Matrix<double>& A, const Matrix<double>& B) {
  double sum = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (std::int64_t j = 0; j < A.cols(); ++j) sum += A(i, j) * B(i, j);
  }
  return sum;
}

double trace(const Matrix<double>& A) {
  double sum = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) sum += A(i, i);
  return sum;
}

/// The Gram matrix of F + t dF, which is G_0 + t G_1 + t^2 G_2; all symmetric.
struct GramLine {
  Matrix<double> terms[3];
};

void symmetrize(Matrix<double>& A) {
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (std::int64_t j = 0; j <= i; ++j) A(i, j) = A(j, i) = A(i, j) + A(j, i);
  }
}

GramLine gram_line(const Resident<float>& F, const Resident<float>& dF, std::span<const float> w,
                   Backend& backend) {
  GramLine line{{backend.factor_gram(F.view(), w), backend.factor_product(F.view(), w, dF.view()),
                 backend.factor_gram(dF.view(), w)}};
  symmetrize(line.terms[1]);
  return line;
}

void add_product(double factor, const GramLine& A, const GramLine& B, Quartic& sum) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) sum[i + j] += factor * trace(A.terms[i], B.terms[j]);
  }
}

void add_norm(double factor, const GramLine& A, Quartic& sum) {
  for (std::size_t i = 0; i < 3; ++i) sum[i] += factor * trace(A.terms[i]);
}

}  // namespace

double asymmetric_objective(const AsymmetricProblem& problem, const AsymmetricPoint& point,
                            Backend& backend) {
  const RowEntries& entries = problem.users;
  const std::span<const float> p = only_row(point.scores);
  double sparse = 0;
  if (!p.empty()) sparse -= 2 * backend.triple_dot(entries.w, p, {});
  if (!p.empty() && !entries.c.empty()) sparse += backend.triple_dot(entries.c, p, p);
  const auto gram = [&](const Resident<float>& F) { return backend.factor_gram(F.view(), {}); };
  const Matrix<double> B = backend.factor_gram(point.V.view(), problem.W->b);
  const Matrix<double> V_gram = problem.W->b.empty() ? B : gram(point.V);
  double penalty = 0;
  if (problem.dropout()) {
    penalty = trace(gram(point.U), V_gram);
  } else if (problem.data_metric()) {
    penalty = trace(problem.W->a.empty() ? point.Z_gram : gram(point.Z)) + trace(V_gram);
  } else {
    penalty = trace(gram(point.U)) + trace(V_gram);
  }
  return problem.W->observed + sparse + trace(point.Z_gram, B) + problem.lambda * penalty;
}

AsymmetricLine::AsymmetricLine(const AsymmetricProblem& problem, const AsymmetricPoint& point,
                               const AsymmetricPoint& step, Backend& backend)
    : backend_(backend) {
  const RowEntries& entries = problem.users;
  const std::int64_t count = entries.view().entries();
  scores_1_ = Resident<float>(backend, 1, count);
  scores_2_ = Resident<float>(backend, 1, count);
  {
    Resident<float> other(backend, 1, count);
    backend.sampled_dots(entries.view(), step.Z.view(), step.V.view(), only_row(scores_2_));
    backend.sampled_dots(entries.view(), point.Z.view(), step.V.view(), only_row(scores_1_));
    backend.sampled_dots(entries.view(), step.Z.view(), point.V.view(), only_row(other));
    backend.combine(std::vector<Term<float>>{{.x = scores_1_.view()}, {.x = other.view()}}, scores_1_.view());
  }
  if (count > 0) {
    // (p0 + t p1 + t^2 p2) in -2 w p + c p^2.
    const std::span<const float> p[3] = {only_row(point.scores), only_row(std::as_const(scores_1_)),
                                         only_row(std::as_const(scores_2_))};
    for (std::size_t k = 0; k < 3; ++k) {
      coefficients_[k] -= 2 * backend.triple_dot(entries.w, p[k], {});
      for (std::size_t j = k; j < 3 && !entries.c.empty(); ++j)
        coefficients_[k + j] += (j == k ? 1 : 2) * backend.triple_dot(entries.c, p[k], p[j]);
    }
  }
  GramLine A{{point.Z_gram, backend.factor_product(point.Z.view(), problem.W->a, step.Z.view()),
              backend.factor_gram(step.Z.view(), problem.W->a)}};
  symmetrize(A.terms[1]);
  const GramLine B = gram_line(point.V, step.V, problem.W->b, backend);
  add_product(1, A, B, coefficients_);
  const GramLine V = problem.W->b.empty() ? B : gram_line(point.V, step.V, {}, backend);
  if (problem.dropout()) {
    add_product(problem.lambda, gram_line(point.U, step.U, {}, backend), V, coefficients_);
  } else {
    add_norm(problem.lambda, V, coefficients_);
    if (!problem.data_metric()) {
      add_norm(problem.lambda, gram_line(point.U, step.U, {}, backend), coefficients_);
    } else {
      add_norm(problem.lambda, problem.W->a.empty() ? A : gram_line(point.Z, step.Z, {}, backend),
               coefficients_);
    }
  }
  gram_1_ = std::move(A.terms[1]);
  gram_2_ = std::move(A.terms[2]);
}

double AsymmetricLine::decrease(double t) const {
  double sum = 0;
  for (std::size_t k = 5; k-- > 1;) sum = (sum + coefficients_[k]) * t;
  return -sum;
}

double AsymmetricLine::best() const {
  // The derivative is a cubic: its lowest root lies between two points of a grid, and bisection finds it.
  const auto slope = [&](double t) {
    return coefficients_[1] +
           t * (2 * coefficients_[2] + t * (3 * coefficients_[3] + t * 4 * coefficients_[4]));
  };
  constexpr double furthest = 20;
  constexpr int steps = 200;
  double best = 0;
  for (int k = 0; k < steps; ++k) {
    double low = furthest * k / steps;
    double high = furthest * (k + 1) / steps;
    if (!(slope(low) < 0 && slope(high) >= 0)) continue;
    for (int halving = 0; halving < 50; ++halving) {
      const double middle = (low + high) / 2;
      (slope(middle) < 0 ? low : high) = middle;
    }
    if (decrease(high) > decrease(best)) best = high;
  }
  return decrease(furthest) > decrease(best) ? furthest : best;
}

void AsymmetricLine::move(double t, const AsymmetricPoint& step, AsymmetricPoint& point) const {
  const auto add = [&](Resident<float>& to, const Resident<float>& from) {
    backend_.combine(std::vector<Term<float>>{{.x = to.view()}, {.x = from.view(), .scale = t}}, to.view());
  };
  add(point.U, step.U);
  add(point.V, step.V);
  add(point.Z, step.Z);
  backend_.combine(std::vector<Term<float>>{{.x = point.scores.view()},
                                            {.x = scores_1_.view(), .scale = t},
                                            {.x = scores_2_.view(), .scale = t * t}},
                   point.scores.view());
  for (std::int64_t i = 0; i < gram_1_.rows(); ++i) {
    for (std::int64_t j = 0; j < gram_1_.cols(); ++j)
      point.Z_gram(i, j) += t * (gram_1_(i, j) + t * gram_2_(i, j));
  }
}

}  // namespace poise
