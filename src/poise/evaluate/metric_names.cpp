#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/base/suggest.hpp"
#include "poise/evaluate/metric_traits.hpp"

namespace poise {
namespace {

constexpr std::int64_t largest_at = std::int64_t{1} << 31;

}  // namespace

Metric parse_metric(std::string_view text) {
  const std::size_t at = text.find('@');
  const std::vector<std::string_view> names = metric_names();
  const auto name = std::ranges::find(names, text.substr(0, at));
  const auto kind = static_cast<MetricKind>(name - names.begin());
  const bool whole = name != names.end() && !traits_of(kind).of_a_list;
  if (whole && at == std::string_view::npos) return {kind, 0};
  if (whole) fail(ErrorKind::usage, "metric '{}' is of the whole ranking: write {} without @", text, *name);
  if (at == std::string_view::npos || name == names.end()) {
    fail(ErrorKind::usage, "unknown metric '{}'{}: use one of {}, followed by @ and a number, e.g. ndcg@100",
         text, name == names.end() ? did_you_mean(text.substr(0, at), names) : "", fmt::join(names, ", "));
  }
  const std::string_view digits = text.substr(at + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 1 || number > largest_at) {
    fail(ErrorKind::usage, "metric '{}' needs a whole number from 1 to {} after the @", text, largest_at);
  }
  return {kind, number};
}

std::vector<Metric> parse_metrics(std::string_view text) {
  std::vector<Metric> metrics;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t last = std::min(text.find(',', first), text.size());
    const Metric metric = parse_metric(text.substr(first, last - first));
    if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) metrics.push_back(metric);
    first = last + 1;
  }
  return metrics;
}

Metric parse_aim(std::string_view text) {
  const Metric metric = parse_metric(text);
  switch (traits_of(metric.kind).aim) {
    case MetricTraits::Aim::high:
      break;
    case MetricTraits::Aim::low:
      fail(ErrorKind::usage,
           "a search looks for the highest figure, and {} is better the lower it is; choose by another "
           "metric, e.g. ndcg@100, and measure it with {}",
           text, "metrics"_p);
    case MetricTraits::Aim::of_all:
      fail(ErrorKind::usage,
           "a search compares points user by user, and {} is one number for all users; choose by another "
           "metric, e.g. ndcg@100, and measure it with {}",
           text, "metrics"_p);
  }
  return metric;
}

std::string to_string(const Metric& metric) {
  const MetricTraits& traits = traits_of(metric.kind);
  return traits.of_a_list ? fmt::format("{}@{}", traits.name, metric.at) : std::string(traits.name);
}

bool is_per_user(const Metric& metric) { return traits_of(metric.kind).aim != MetricTraits::Aim::of_all; }

TrainingNeed training_need(std::span<const Metric> metrics) {
  TrainingNeed need = TrainingNeed::nothing;
  for (const Metric& metric : metrics) need = std::max(need, traits_of(metric.kind).need);
  return need;
}

}  // namespace poise
