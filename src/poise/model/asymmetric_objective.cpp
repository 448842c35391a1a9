#include "poise/model/asymmetric_objective.hpp"

#include <algorithm>
#include <cmath>

#include "poise/solver/factor_products.hpp"

namespace poise {
namespace {

using Quartic = std::array<double, 5>;

constexpr std::int64_t entries_per_tile = 1 << 16;

/// Sums of a function over entries, by tiles in order.
template <std::size_t size, class Add>
std::array<double, size> sum_entries(std::int64_t entries, const Execution& execution, const Add& add) {
  const Tiling tiling{entries, entries_per_tile};
  std::vector<std::array<double, size>> parts(tiling.tiles());
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    for (std::int64_t e = tiling.first(tile); e < tiling.last(tile); ++e) add(e, parts[tile]);
  });
  std::array<double, size> total = {};
  for (const auto& part : parts) {
    for (std::size_t k = 0; k < size; ++k) total[k] += part[k];
  }
  return total;
}

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

GramLine gram_line(const Matrix<float>& F, const Matrix<float>& dF, std::span<const float> w,
                   const Execution& execution) {
  GramLine line{{factor_gram(F.view(), w, execution), factor_product(F.view(), w, dF.view(), execution),
                 factor_gram(dF.view(), w, execution)}};
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
                            const Execution& execution) {
  const RowEntries& entries = problem.users;
  const auto count = static_cast<std::int64_t>(entries.indices.size());
  const auto sparse = sum_entries<1>(count, execution, [&](std::int64_t e, std::array<double, 1>& sum) {
    const double p = point.scores[e];
    const double c = entries.c.empty() ? 0.0 : entries.c[e];
    sum[0] += (c * p - 2.0 * entries.w[e]) * p;
  });
  const auto gram = [&](const Matrix<float>& F) { return factor_gram(F.view(), {}, execution); };
  const Matrix<double> B = factor_gram(point.V.view(), problem.W->b, execution);
  const Matrix<double> V_gram = problem.W->b.empty() ? B : gram(point.V);
  double penalty = 0;
  if (problem.dropout()) {
    penalty = trace(gram(point.U), V_gram);
  } else if (problem.data_metric()) {
    penalty = trace(problem.W->a.empty() ? point.Z_gram : gram(point.Z)) + trace(V_gram);
  } else {
    penalty = trace(gram(point.U)) + trace(V_gram);
  }
  return problem.W->observed + sparse[0] + trace(point.Z_gram, B) + problem.lambda * penalty;
}

AsymmetricLine::AsymmetricLine(const AsymmetricProblem& problem, const AsymmetricPoint& point,
                               const AsymmetricPoint& step, Backend& backend, const Execution& execution)
    : execution_(execution) {
  const RowEntries& entries = problem.users;
  const auto count = static_cast<std::int64_t>(entries.indices.size());
  scores_1_.resize(count);
  scores_2_.resize(count);
  {
    std::vector<float> other(count);
    backend.sampled_dots(entries.view(), step.Z.view(), step.V.view(), scores_2_);
    backend.sampled_dots(entries.view(), point.Z.view(), step.V.view(), scores_1_);
    backend.sampled_dots(entries.view(), step.Z.view(), point.V.view(), other);
    for (std::int64_t e = 0; e < count; ++e) scores_1_[e] += other[e];
  }
  coefficients_ = sum_entries<5>(count, execution, [&](std::int64_t e, Quartic& sum) {
    const double p[3] = {point.scores[e], scores_1_[e], scores_2_[e]};
    const double c = entries.c.empty() ? 0.0 : entries.c[e];
    const double w = entries.w[e];
    sum[0] += (c * p[0] - 2 * w) * p[0];
    sum[1] += 2 * (c * p[0] - w) * p[1];
    sum[2] += c * p[1] * p[1] + 2 * (c * p[0] - w) * p[2];
    sum[3] += 2 * c * p[1] * p[2];
    sum[4] += c * p[2] * p[2];
  });
  coefficients_[0] += problem.W->observed;

  GramLine A{{point.Z_gram, factor_product(point.Z.view(), problem.W->a, step.Z.view(), execution),
              factor_gram(step.Z.view(), problem.W->a, execution)}};
  symmetrize(A.terms[1]);
  const GramLine B = gram_line(point.V, step.V, problem.W->b, execution);
  add_product(1, A, B, coefficients_);
  const GramLine V = problem.W->b.empty() ? B : gram_line(point.V, step.V, {}, execution);
  if (problem.dropout()) {
    add_product(problem.lambda, gram_line(point.U, step.U, {}, execution), V, coefficients_);
  } else {
    add_norm(problem.lambda, V, coefficients_);
    if (!problem.data_metric()) {
      add_norm(problem.lambda, gram_line(point.U, step.U, {}, execution), coefficients_);
    } else {
      add_norm(problem.lambda, problem.W->a.empty() ? A : gram_line(point.Z, step.Z, {}, execution),
               coefficients_);
    }
  }
  gram_1_ = std::move(A.terms[1]);
  gram_2_ = std::move(A.terms[2]);
}

double AsymmetricLine::value(double t) const {
  double sum = 0;
  for (std::size_t k = 5; k-- > 0;) sum = sum * t + coefficients_[k];
  return sum;
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
    if (value(high) < value(best)) best = high;
  }
  return value(furthest) < value(best) ? furthest : best;
}

void AsymmetricLine::move(double t, const AsymmetricPoint& step, AsymmetricPoint& point) const {
  const auto add = [&](Matrix<float>& to, const Matrix<float>& from) {
    const Tiling tiling{to.rows(), 1024};
    for_each_tile(tiling.tiles(), execution_.threads, [&](std::int64_t tile) {
      for (std::int64_t i = tiling.first(tile); i < tiling.last(tile); ++i) {
        for (std::int64_t j = 0; j < to.cols(); ++j) to(i, j) = static_cast<float>(to(i, j) + t * from(i, j));
      }
    });
  };
  add(point.U, step.U);
  add(point.V, step.V);
  add(point.Z, step.Z);
  for (std::size_t e = 0; e < point.scores.size(); ++e) {
    point.scores[e] = static_cast<float>(point.scores[e] + t * (scores_1_[e] + t * scores_2_[e]));
  }
  for (std::int64_t i = 0; i < gram_1_.rows(); ++i) {
    for (std::int64_t j = 0; j < gram_1_.cols(); ++j)
      point.Z_gram(i, j) += t * (gram_1_(i, j) + t * gram_2_(i, j));
  }
}

}  // namespace poise
