#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "poise/evaluate/evaluate.hpp"

namespace poise {

/// A mean over users; no standard error if it has none (coverage, a single user).
struct Estimate {
  double mean = 0;
  std::optional<double> standard_error;
};

/// By name ("recall@20"), in the order in which they were requested.
using Estimates = std::vector<std::pair<std::string, Estimate>>;

inline Estimates estimates_of(const EvaluationResult& result) {
  Estimates estimates;
  for (const MetricResult& metric : result.metrics)
    estimates.push_back({to_string(metric.metric), {metric.mean, metric.standard_error}});
  return estimates;
}

}  // namespace poise
