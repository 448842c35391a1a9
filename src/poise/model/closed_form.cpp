#include "poise/model/closed_form.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace poise {
namespace {

/// The first min(rank, pairs) eigenvalues that are not 0.
std::span<const double> live_values(const Spectrum& spectrum, std::int64_t rank) {
  std::int64_t live = 0;
  while (live < std::min(rank, spectrum.pairs()) && spectrum.s[live] > 0) ++live;
  return std::span(spectrum.s).first(live);
}

/// The factors of an eigenvector's column in U and in V.
struct Scales {
  double u;
  double v;
};

Scales scales(Regularizer regularizer, double s, double lambda) {
  switch (regularizer) {
    case Regularizer::weight_decay: {
      const double both = std::sqrt(std::max(0.0, 1 - lambda / s));
      return {both, both};
    }
    case Regularizer::dropout:
      return {s / (s + lambda), 1};
    case Regularizer::data_weight_decay:
      break;
  }
  const double t = std::max(0.0, std::sqrt(s) - lambda);
  return {std::sqrt(t / s), std::sqrt(t)};
}

/// Q with column k multiplied by factors[k], and zero columns up to the rank.
Matrix<float> scaled(const Matrix<float>& Q, const std::vector<double>& factors, std::int64_t rank) {
  Matrix<float> result(Q.rows(), rank);
  for (std::int64_t i = 0; i < Q.rows(); ++i) {
    for (std::size_t k = 0; k < factors.size(); ++k) {
      const auto column = static_cast<std::int64_t>(k);
      result(i, column) = static_cast<float>(factors[k] * Q(i, column));
    }
  }
  return result;
}

}  // namespace

Factors asymmetric_closed_form(Regularizer regularizer, const Spectrum& spectrum, std::int64_t rank,
                               double lambda) {
  assert(spectrum.pairs() >= std::min(rank, spectrum.Q.rows()));
  std::vector<double> u;
  std::vector<double> v;
  for (const double s : live_values(spectrum, rank)) {
    const Scales both = scales(regularizer, s, lambda);
    u.push_back(both.u);
    v.push_back(both.v);
  }
  return {scaled(spectrum.Q, u, rank), scaled(spectrum.Q, v, rank)};
}

double start_lambda(Regularizer regularizer, const Spectrum& spectrum, std::int64_t rank, double lambda) {
  const auto live = live_values(spectrum, rank);
  if (live.empty()) return lambda;
  const double last = live.back();
  return std::min(lambda, (regularizer == Regularizer::data_weight_decay ? std::sqrt(last) : last) / 2);
}

}  // namespace poise
