#include <algorithm>

#include <fmt/format.h>

#include "poise/base/csv.hpp"
#include "poise/study/csv_parts.hpp"
#include "poise/study/splits.hpp"

namespace poise {
namespace {

/// "least,most"
std::string range(const SplitValues& values) {
  const std::vector<double> all = present(values);
  if (all.empty()) return ",";
  const auto [least, most] = std::ranges::minmax(all);
  return fmt::format("{},{}", csv_number(least), csv_number(most));
}

/// "mean,spread,positive in,low,high"
std::string difference(const SplitsResults& results, const StudyRow& row, const std::string& metric) {
  const StudyPair* const pair = find_pair(results.means, row.data, row.model, row.kind, metric);
  if (pair == nullptr) return ",,,,";
  const SplitPair& all = results.pairs[pair - results.means.pairs.data()];
  return fmt::format("{},{},{},{},{}", csv_number(pair->test.difference), csv_number(all.spread),
                     all.positive, csv_number(pair->test.low), csv_number(pair->test.high));
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
    for (const std::string& metric : results.means.metrics)
      csv += fmt::format("{},{},{},{},{},{},{}\n", csv_row_name(row), csv_field(metric), all.splits,
                         csv_estimate(row.validation, metric), csv_estimate(row.test, metric),
                         difference(results, row, metric),
                         popularity ? ",,," : range(all.alpha) + "," + range(all.lambda));
  }
  return csv;
}

}  // namespace poise
