#include "poise/model/neighbours/column_ridge.hpp"

#include <algorithm>

#include "poise/base/error.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/solver/certificate.hpp"

namespace poise {
namespace {

/// A column whose excess is above this part of what it explains is refined: far above what rounding the
/// entries to float32 costs, some 1e-15.
constexpr double refined_above = 1e-12;

}  // namespace

ColumnRidge::ColumnRidge(const NeighbourProblem& problem, std::int64_t k)
    : problem_(problem),
      k_(k),
      H_(k * cholesky::stride_of(k), 0.0),
      U_(k * cholesky::stride_of(k), 0.0),
      c_(k, 0.0),
      forward_(k, 0.0),
      l_(k, 0.0),
      x_(k, 0.0),
      beta_(k, 0.0),
      rho_(k, 0.0),
      e_(k, 0.0),
      He_(k, 0.0),
      place_(problem.has_weights() ? problem.items() : 0, -1) {}

template <class T>
void ColumnRidge::assemble(std::int32_t j, std::span<const std::int32_t> support, std::span<const T> G) {
  const std::int64_t stride = cholesky::stride_of(k_);
  const T* from = G.data();
  for (std::int64_t q = 0; q < k_; ++q) {
    double* const row = H_.data() + q * stride;
    for (std::int64_t p = q; p < k_; ++p) row[p] = static_cast<double>(from[p - q]);
    c_[q] = static_cast<double>(from[k_ - q]);
    from += k_ + 1 - q;
  }
  observed_ = static_cast<double>(*from);
  if (problem_.has_weights()) add_weights(j, support);
  const double b = problem_.W->b_of(j);
  observed_ *= b;
  for (std::int64_t q = 0; q < k_; ++q) {
    l_[q] = problem_.l[support[q]];
    c_[q] *= b;
    double* const row = H_.data() + q * stride;
    for (std::int64_t p = q; p < k_ && b != 1; ++p) row[p] *= b;
    row[q] += l_[q];
  }
  nothing_ = std::ranges::all_of(c_, [](double entry) { return entry == 0; });
}

template void ColumnRidge::assemble(std::int32_t, std::span<const std::int32_t>,
                                    std::span<const std::uint32_t>);
template void ColumnRidge::assemble(std::int32_t, std::span<const std::int32_t>, std::span<const double>);

void ColumnRidge::factor(std::int32_t j) {
  if (nothing_) return;
  std::ranges::copy(H_, U_.begin());
  if (!cholesky::factor(view(U_)))
    fail(
        ErrorKind::numerical,
        "X'X + Lambda is singular to working precision even in float64 on the neighbours of item {} (counted "
        "from 0); raise {}",
        j, "lambda"_p);
  std::ranges::copy(c_, forward_.begin());
  cholesky::solve_transposed(view(U_), forward_);
}

void ColumnRidge::add_weights(std::int32_t j, std::span<const std::int32_t> support) {
  for (std::int64_t p = 0; p < k_; ++p) place_[support[p]] = static_cast<std::int32_t>(p);
  const CsrView weights = problem_.weights();
  const auto users = weights.row(j);
  const auto C = weights.row_values(j);
  for (std::size_t e = 0; e < users.size(); ++e) {
    if (C[e] == 0) continue;
    const std::int32_t u = users[e];
    const double aC = problem_.W->a_of(u) * static_cast<double>(C[e]);
    const auto items = problem_.X.row(u);
    common_.clear();
    if (std::ssize(items) > 16 * k_) {  // looking for the support is less than going through the user
      for (std::int64_t p = 0; p < k_; ++p) {
        if (std::ranges::binary_search(items, support[p])) common_.push_back(static_cast<std::int32_t>(p));
      }
    } else {
      for (const std::int32_t i : items) {
        if (place_[i] >= 0) common_.push_back(place_[i]);
      }
      std::sort(common_.begin(), common_.end());
    }
    for (std::size_t s = 0; s < common_.size(); ++s) {
      double* const row = H_.data() + common_[s] * cholesky::stride_of(k_);
      for (std::size_t t = s; t < common_.size(); ++t) row[common_[t]] += aC;
    }
    if (!problem_.has_entry(u, j)) continue;
    observed_ += aC;
    for (const std::int32_t p : common_) c_[p] += aC;
  }
  for (const std::int32_t i : support) place_[i] = -1;
}

void ColumnRidge::set_residual(std::span<const float> values) {
  const auto k = values.size();
  std::copy(values.begin(), values.end(), beta_.begin());
  cholesky::multiply(view(H_), std::span(beta_).first(k), rho_);
  for (std::size_t p = 0; p < k; ++p) rho_[p] = c_[p] - rho_[p];
}

double ColumnRidge::residual(std::span<const float> values) {
  const auto k = values.size();
  set_residual(values);
  const auto e = std::span(e_).first(k);
  std::copy_n(rho_.begin(), k, e.begin());
  cholesky::solve_transposed(view(U_), e);
  cholesky::solve(view(U_), e);
  cholesky::multiply(view(H_), e, He_);
  double bound = 0;
  for (std::size_t p = 0; p < k; ++p) {
    const double r = rho_[p] - He_[p];
    bound += rho_[p] * e_[p] + e_[p] * r + r * r / l_[p];
  }
  return usable_excess(bound);
}

NeighbourFigures ColumnRidge::figures_of(std::int64_t k, double excess) const {
  const auto first = [&](const Vector& vector) { return std::span(vector).first(k); };
  NeighbourFigures figures{.observed = observed_};
  figures.excess = excess;
  figures.along = dot<double, double>(first(beta_), first(c_));
  figures.explained = figures.along + dot<double, double>(first(beta_), first(rho_));
  return figures;
}

NeighbourFigures ColumnRidge::measure(std::span<const float> values) {
  set_residual(values);
  double excess = 0;
  for (std::size_t p = 0; p < values.size(); ++p) excess += rho_[p] * rho_[p] / l_[p];
  return figures_of(std::ssize(values), usable_excess(excess));
}

NeighbourFigures ColumnRidge::check(std::span<const float> values) {
  if (!nothing_) return figures_of(std::ssize(values), residual(values));
  // c = 0, and there is no factor: the minimum is at 0, so the excess is beta'H beta.
  std::copy(values.begin(), values.end(), beta_.begin());
  const auto beta = std::span(beta_).first(values.size());
  cholesky::multiply(view(H_), beta, He_);
  const double excess = dot<double, double>(beta, std::span(He_).first(values.size()));
  return {.observed = observed_, .explained = -excess, .excess = usable_excess(excess)};
}

NeighbourFigures ColumnRidge::solve(std::span<float> values) {
  const auto k = values.size();
  if (nothing_) {
    std::ranges::fill(values, 0.0F);
    return {.observed = observed_};
  }
  NeighbourFigures figures;
  const auto x = std::span(x_).first(k);
  std::copy_n(forward_.begin(), k, x.begin());
  cholesky::solve(view(U_), x);
  const auto round = [&] {
    for (std::size_t p = 0; p < k; ++p) values[p] = static_cast<float>(x[p]);
    figures = figures_of(std::ssize(values), residual(values));
  };
  round();
  if (figures.excess > refined_above * figures.explained) {
    cholesky::multiply(view(H_), x, He_);
    const auto e = std::span(e_).first(k);
    for (std::size_t p = 0; p < k; ++p) e[p] = c_[p] - He_[p];
    cholesky::solve_transposed(view(U_), e);
    cholesky::solve(view(U_), e);
    for (std::size_t p = 0; p < k; ++p) x[p] += e[p];
    round();
  }
  return figures;
}

}  // namespace poise
