#include "poise/study/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

namespace poise {

PairedDifference mean_difference(double mean, std::int64_t count, const std::optional<double>& error) {
  PairedDifference result{.users = count, .difference = mean, .low = mean, .high = mean};
  if (!error) {
    result.low = -std::numeric_limits<double>::infinity();
    result.high = std::numeric_limits<double>::infinity();
    return result;
  }
  if (*error == 0) {
    result.p = mean == 0 ? 1 : 0;
    return result;
  }
  const boost::math::students_t distribution(static_cast<double>(count) - 1);
  const double reach = boost::math::quantile(boost::math::complement(distribution, 0.025)) * *error;
  result.low = mean - reach;
  result.high = mean + reach;
  result.p = 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(mean) / *error));
  return result;
}

PairedDifference paired_difference(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size());
  const auto users = static_cast<double>(a.size());
  if (a.empty()) return {};
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] - b[k];
  const double mean = sum / users;
  double squares = 0;
  for (std::size_t k = 0; k < a.size(); ++k) squares += std::pow(a[k] - b[k] - mean, 2);
  const double error = std::sqrt(squares / (users - 1) / users);
  return mean_difference(mean, std::ssize(a), a.size() == 1 ? std::nullopt : std::optional(error));
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return p[k]; });
  std::vector<double> corrected(p.size());
  double highest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    highest = std::max(highest, std::min(1.0, p[order[k]] * static_cast<double>(order.size() - k)));
    corrected[order[k]] = highest;
  }
  return corrected;
}

}  // namespace poise
