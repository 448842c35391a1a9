#include <algorithm>

#include <fmt/format.h>

#include "poise/study/csv_cells.hpp"
#include "poise/study/splits.hpp"

namespace poise {
namespace {

/// `pair` and `pairs` are what it differs by from the unweighted row; null where there is none.
CsvCells split_cells(const StudyRow& row, const SplitRow& all, const StudyPair* pair, const SplitPair* pairs,
                     const std::string& metric) {
  const auto of_pair = [&](double PairedDifference::*figure) {
    return pair == nullptr ? "" : csv_number(pair->test.*figure);
  };
  const auto end = [&](const SplitValues& values, auto of) {
    const std::vector<double> found = present(values);
    return found.empty() || row.model.key == "popularity" ? "" : csv_number(of(found));
  };
  return csv_cells(
      row, {{"metric", csv_field(metric)},
            {"splits", fmt::format("{}", all.splits)},
            {"validation_mean", csv_mean(row.validation, metric)},
            {"validation_spread", csv_error(row.validation, metric)},
            {"test_mean", csv_mean(row.test, metric)},
            {"test_spread", csv_error(row.test, metric)},
            {"difference_mean", of_pair(&PairedDifference::difference)},
            {"difference_spread", pair == nullptr ? "" : csv_number(pairs->spread)},
            {"difference_positive", pair == nullptr ? "" : fmt::format("{}", pairs->positive)},
            {"difference_low", of_pair(&PairedDifference::low)},
            {"difference_high", of_pair(&PairedDifference::high)},
            {"alpha_least", end(all.alpha, std::ranges::min)},
            {"alpha_most", end(all.alpha, std::ranges::max)},
            {"lambda_least", end(all.lambda, std::ranges::min)},
            {"lambda_most", end(all.lambda, std::ranges::max)},
            {"neighbours", row.model.key == "popularity" ? "" : fmt::format("{}", row.model.neighbours)}});
}

}  // namespace

std::string to_csv(const SplitsResults& results) {
  std::string csv = csv_header(split_cells({}, {}, nullptr, nullptr, ""));
  for (std::size_t k = 0; k < results.rows.size(); ++k) {
    const StudyRow& row = results.means.rows[k];
    for (const std::string& metric : results.means.metrics) {
      const StudyPair* const pair = find_pair(results.means, row.data, row.model, row.kind, metric);
      const SplitPair* const pairs = pair ? &results.pairs[pair - results.means.pairs.data()] : nullptr;
      csv += csv_line(split_cells(row, results.rows[k], pair, pairs, metric));
    }
  }
  return csv;
}

}  // namespace poise
