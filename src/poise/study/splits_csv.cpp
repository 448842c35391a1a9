#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "poise/base/csv.hpp"
#include "poise/study/splits.hpp"

namespace poise {
namespace {

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string number(const std::optional<double>& value) { return value ? number(*value) : ""; }

/// "mean,spread"
std::string figures(const Estimates& estimates, const std::string& metric) {
  const Estimate* const estimate = find(estimates, metric);
  return estimate == nullptr ? ","
                             : fmt::format("{},{}", number(estimate->mean), number(estimate->standard_error));
}

/// "least,most"
std::string range(const SplitValues& values) {
  const std::vector<double> all = present(values);
  if (all.empty()) return ",";
  const auto [least, most] = std::ranges::minmax(all);
  return fmt::format("{},{}", number(least), number(most));
}

/// "mean,spread,positive in,low,high"
std::string difference(const SplitsResults& results, const StudyRow& row, const std::string& metric) {
  const auto& pairs = results.means.pairs;
  const auto found = std::ranges::find_if(pairs, [&](const StudyPair& pair) {
    return pair.data == row.data && pair.model == row.model && pair.kind == row.kind && pair.metric == metric;
  });
  if (found == pairs.end()) return ",,,,";
  const SplitPair& all = results.pairs[found - pairs.begin()];
  return fmt::format("{},{},{},{},{}", number(found->test.difference), number(all.spread), all.positive,
                     number(found->test.low), number(found->test.high));
}

}  // namespace

std::string to_csv(const SplitsResults& results) {
  std::string csv =
      "data,model,rank,zero_diagonal,kind,metric,splits,validation_mean,validation_spread,test_mean,"
      "test_spread,difference_mean,difference_spread,difference_positive,difference_low,difference_high,"
      "alpha_least,alpha_most,lambda_least,lambda_most\n";
  for (std::size_t k = 0; k < results.rows.size(); ++k) {
    const StudyRow& row = results.means.rows[k];
    const SplitRow& all = results.rows[k];
    const bool popularity = row.model.key == "popularity";
    const std::string rank = row.model.rank ? fmt::format("{}", *row.model.rank) : popularity ? "" : "full";
    for (const std::string& metric : results.means.metrics)
      csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.data), csv_field(row.model.key),
                         rank, row.model.zero_diagonal, to_string(row.kind), csv_field(metric), all.splits,
                         figures(row.validation, metric), figures(row.test, metric),
                         difference(results, row, metric),
                         popularity ? ",,," : range(all.alpha) + "," + range(all.lambda));
  }
  return csv;
}

}  // namespace poise
