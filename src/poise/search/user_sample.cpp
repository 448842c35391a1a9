#include "poise/search/user_sample.hpp"

#include <algorithm>
#include <cmath>

namespace poise {
namespace {

constexpr std::int64_t most_users = 1000;
constexpr double units = 1e4;
constexpr double untold = 4e-4;

const std::vector<std::int32_t>* find(const UserSample& sample, std::string_view metric) {
  const auto found = std::ranges::find(sample.values, metric, [](const auto& each) { return each.first; });
  return found == sample.values.end() ? nullptr : &found->second;
}

}  // namespace

UserSample sample_of(const EvaluationResult& evaluation) {
  const std::int64_t users = evaluation.per_user.rows();
  const std::int64_t taken = std::min(users, most_users);
  UserSample sample{.users = users};
  for (std::size_t column = 0; column < evaluation.per_user_metrics.size(); ++column) {
    std::vector<std::int32_t> values(taken);
    for (std::int64_t k = 0; k < taken; ++k)
      values[k] = static_cast<std::int32_t>(
          std::lround(units * evaluation.per_user(k * users / taken, static_cast<std::int64_t>(column))));
    sample.values.emplace_back(to_string(evaluation.per_user_metrics[column]), std::move(values));
  }
  return sample;
}

double paired_error(const UserSample& a, const UserSample& b, std::string_view metric) {
  const auto* const x = find(a, metric);
  const auto* const y = find(b, metric);
  if (x == nullptr || y == nullptr || x->size() != y->size() || x->empty()) return untold;
  const auto count = static_cast<double>(x->size());
  double sum = 0;
  double squares = 0;
  for (std::size_t k = 0; k < x->size(); ++k) {
    const double difference = ((*x)[k] - (*y)[k]) / units;
    sum += difference;
    squares += difference * difference;
  }
  const double variance = std::max(0.0, squares / count - (sum / count) * (sum / count));
  return std::sqrt(variance / static_cast<double>(a.users));
}

}  // namespace poise
