#include <cmath>

#include <fmt/format.h>

#include "poise/study/csv_columns.hpp"

namespace poise {
namespace {

struct RowLine {
  const StudyRow& row;
  const std::string& metric;
};

using Line = const RowLine&;

std::string flag_text(bool value) { return value ? "true" : "false"; }

std::vector<CsvColumn<RowLine>> result_columns() {
  constexpr CsvRows trained = CsvRows::trained;
  std::vector<CsvColumn<RowLine>> columns = csv_row_columns<RowLine>();
  const CsvColumn<RowLine> others[] = {
      {"alpha", [](Line line) { return csv_number(line.row.alpha); }, trained},
      {"lambda", [](Line line) { return csv_number(line.row.lambda); }, trained},
      {"dropout", [](Line line) { return csv_number(line.row.dropout); }, trained},
      {"metric", [](Line line) { return csv_field(line.metric); }},
      {"validation_mean", [](Line line) { return csv_mean(line.row.validation, line.metric); }},
      {"validation_stderr", [](Line line) { return csv_error(line.row.validation, line.metric); }},
      {"test_mean", [](Line line) { return csv_mean(line.row.test, line.metric); }},
      {"test_stderr", [](Line line) { return csv_error(line.row.test, line.metric); }},
      {"objective", [](Line line) { return csv_number(line.row.objective); }, trained},
      {"observed_weight", [](Line line) { return csv_number(line.row.observed_weight); }, trained},
      {"certificate_absolute", [](Line line) { return csv_number(line.row.certificate.absolute); }, trained},
      {"certificate_relative", [](Line line) { return csv_number(line.row.certificate.relative); }, trained},
      {"certificate_worst_column",
       [](Line line) { return line.row.model.rank ? "" : csv_number(line.row.certificate.worst_column); },
       trained},
      {"certificate_sampled", [](Line) { return flag_text(false); }, trained},  // as in JSON
      {"converged", [](Line line) { return flag_text(line.row.converged); }, trained},
      {"certificate_verified_columns",
       [](Line line) { return fmt::format("{}", line.row.certificate.verified_columns); }, trained},
      {"certificate_probability", [](Line line) { return csv_number(line.row.certificate.probability); },
       trained},
      {"lambda_exponent", [](Line line) { return csv_number(line.row.lambda_exponent); }, trained},
      {"weighting", [](Line line) { return line.row.model.weighting; }, trained},
      {"gamma", [](Line line) { return csv_number(line.row.gamma); }, trained}};
  columns.insert(columns.end(), std::begin(others), std::end(others));
  return columns;
}

}  // namespace

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string csv_number(const std::optional<double>& value) { return value ? csv_number(*value) : ""; }

std::string csv_mean(const Estimates& estimates, const std::string& metric) {
  const Estimate* const estimate = find(estimates, metric);
  return estimate == nullptr ? "" : csv_number(estimate->mean);
}
std::string csv_error(const Estimates& estimates, const std::string& metric) {
  const Estimate* const estimate = find(estimates, metric);
  return estimate == nullptr ? "" : csv_number(estimate->standard_error);
}

std::string csv_rank(const StudyModel& model) {
  if (model.rank) return fmt::format("{}", *model.rank);
  return model.key == "popularity" ? "" : "full";
}

std::string to_csv(const StudyResults& results) {
  const std::vector<CsvColumn<RowLine>> columns = result_columns();
  std::string csv = csv_header<RowLine>(columns);
  for (const StudyRow& row : results.rows) {
    for (const std::string& metric : results.metrics) csv += csv_line<RowLine>(columns, {row, metric});
  }
  return csv;
}

}  // namespace poise
