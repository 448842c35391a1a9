#include <algorithm>

#include <fmt/format.h>

#include "poise/study/csv_columns.hpp"
#include "poise/study/splits.hpp"

namespace poise {
namespace {

struct SplitLine {
  const StudyRow& row;
  const std::string& metric;
  const SplitRow& all;
  const StudyPair* pair = nullptr;  ///< what it differs by from the unweighted row
  const SplitPair* all_pairs = nullptr;
};

using SplitsLine = const SplitLine&;

std::string least(const SplitValues& values) {
  const std::vector<double> all = present(values);
  return all.empty() ? "" : csv_number(std::ranges::min(all));
}
std::string most(const SplitValues& values) {
  const std::vector<double> all = present(values);
  return all.empty() ? "" : csv_number(std::ranges::max(all));
}
std::string of_pair(SplitsLine line, double PairedDifference::*figure) {
  return line.pair == nullptr ? "" : csv_number(line.pair->test.*figure);
}

std::vector<CsvColumn<SplitLine>> split_columns() {
  constexpr CsvRows trained = CsvRows::trained;
  std::vector<CsvColumn<SplitLine>> columns = csv_row_columns<SplitLine>();
  const CsvColumn<SplitLine> others[] = {
      {"metric", [](SplitsLine line) { return csv_field(line.metric); }},
      {"splits", [](SplitsLine line) { return fmt::format("{}", line.all.splits); }},
      {"validation_mean", [](SplitsLine line) { return csv_mean(line.row.validation, line.metric); }},
      {"validation_spread", [](SplitsLine line) { return csv_error(line.row.validation, line.metric); }},
      {"test_mean", [](SplitsLine line) { return csv_mean(line.row.test, line.metric); }},
      {"test_spread", [](SplitsLine line) { return csv_error(line.row.test, line.metric); }},
      {"difference_mean", [](SplitsLine line) { return of_pair(line, &PairedDifference::difference); }},
      {"difference_spread",
       [](SplitsLine line) { return line.pair == nullptr ? "" : csv_number(line.all_pairs->spread); }},
      {"difference_positive",
       [](SplitsLine line) {
         return line.pair == nullptr ? "" : fmt::format("{}", line.all_pairs->positive);
       }},
      {"difference_low", [](SplitsLine line) { return of_pair(line, &PairedDifference::low); }},
      {"difference_high", [](SplitsLine line) { return of_pair(line, &PairedDifference::high); }},
      {"alpha_least", [](SplitsLine line) { return least(line.all.alpha); }, trained},
      {"alpha_most", [](SplitsLine line) { return most(line.all.alpha); }, trained},
      {"lambda_least", [](SplitsLine line) { return least(line.all.lambda); }, trained},
      {"lambda_most", [](SplitsLine line) { return most(line.all.lambda); }, trained}};
  columns.insert(columns.end(), std::begin(others), std::end(others));
  return columns;
}

}  // namespace

std::string to_csv(const SplitsResults& results) {
  const std::vector<CsvColumn<SplitLine>> columns = split_columns();
  std::string csv = csv_header<SplitLine>(columns);
  for (std::size_t k = 0; k < results.rows.size(); ++k) {
    const StudyRow& row = results.means.rows[k];
    for (const std::string& metric : results.means.metrics) {
      SplitLine line{row, metric, results.rows[k]};
      line.pair = find_pair(results.means, row.data, row.model, row.kind, metric);
      if (line.pair != nullptr) line.all_pairs = &results.pairs[line.pair - results.means.pairs.data()];
      csv += csv_line<SplitLine>(columns, line);
    }
  }
  return csv;
}

}  // namespace poise
