#include <cmath>

#include <fmt/format.h>

#include "poise/study/csv_cells.hpp"

namespace poise {
namespace {

CsvCells result_cells(const StudyRow& row, const std::string& metric) {
  const Certificate& certificate = row.certificate;
  const bool is_trained = row.model.key != "popularity";
  const auto trained = [&](const auto& value) { return is_trained ? fmt::format("{}", value) : ""; };
  const auto number = [&](const auto& value) { return trained(csv_number(value)); };
  return csv_cells(row, {{"alpha", number(row.alpha)},
                         {"lambda", number(row.lambda)},
                         {"dropout", number(row.dropout)},
                         {"metric", csv_field(metric)},
                         {"validation_mean", csv_mean(row.validation, metric)},
                         {"validation_stderr", csv_error(row.validation, metric)},
                         {"test_mean", csv_mean(row.test, metric)},
                         {"test_stderr", csv_error(row.test, metric)},
                         {"objective", number(row.objective)},
                         {"observed_weight", number(row.observed_weight)},
                         {"certificate_absolute", number(certificate.absolute)},
                         {"certificate_relative", number(certificate.relative)},
                         {"certificate_worst_column", row.model.rank ? "" : number(certificate.worst_column)},
                         {"certificate_sampled", trained(false)},  // as in JSON
                         {"converged", trained(row.converged)},
                         {"certificate_verified_columns", trained(certificate.verified_columns)},
                         {"certificate_probability", number(certificate.probability)},
                         {"lambda_exponent", number(row.lambda_exponent)},
                         {"weighting", trained(row.model.weighting)},
                         {"gamma", number(row.gamma)},
                         {"neighbours", trained(row.model.neighbours)},
                         {"feature_weight", number(row.feature_weight)},
                         {"alpha_negative", number(row.alpha_negative)}});
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

CsvCells csv_cells(const StudyRow& row, const CsvCells& more) {
  const std::string full = row.model.key == "popularity" ? "" : "full";
  CsvCells cells = {{"data", csv_field(row.data)},
                    {"model", csv_field(row.model.key)},
                    {"rank", row.model.rank ? fmt::format("{}", *row.model.rank) : full},
                    {"zero_diagonal", fmt::format("{}", row.model.zero_diagonal)},
                    {"kind", std::string(to_string(row.kind))}};
  cells.insert(cells.end(), more.begin(), more.end());
  return cells;
}

std::string csv_header(const CsvCells& cells) {
  std::string names;
  for (const CsvCell& cell : cells) names.append(names.empty() ? "" : ",").append(cell.name);
  return names + "\n";
}

std::string csv_line(const CsvCells& cells) {
  std::string texts;
  for (const CsvCell& cell : cells) texts.append(&cell == &cells.front() ? "" : ",").append(cell.text);
  return texts + "\n";
}

std::string to_csv(const StudyResults& results) {
  std::string csv = csv_header(result_cells({}, ""));
  for (const StudyRow& row : results.rows) {
    for (const std::string& metric : results.metrics) csv += csv_line(result_cells(row, metric));
  }
  return csv;
}

}  // namespace poise
