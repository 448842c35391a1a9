#include <cmath>

#include <fmt/format.h>

#include "poise/base/csv.hpp"
#include "poise/study/csv_parts.hpp"

namespace poise {

namespace {

std::string solution(const StudyRow& row) {
  if (row.model.key == "popularity") return ",,,,,,,,,,,,";
  const Certificate& certificate = row.certificate;
  return fmt::format(",{},{},{},{},{},{},{},{},{},{},{},{}", csv_number(row.objective),
                     csv_number(row.observed_weight), csv_number(certificate.absolute),
                     csv_number(certificate.relative),
                     row.model.rank ? "" : csv_number(certificate.worst_column), false, row.converged,
                     certificate.verified_columns, csv_number(certificate.probability),
                     csv_number(row.lambda_exponent), row.model.weighting, csv_number(row.gamma));
}

std::string point(const StudyRow& row) {
  if (row.model.key == "popularity") return ",,";
  return fmt::format("{},{},{}", csv_number(row.alpha), csv_number(row.lambda), csv_number(row.dropout));
}

}  // namespace

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string csv_number(const std::optional<double>& value) { return value ? csv_number(*value) : ""; }

std::string csv_estimate(const Estimates& estimates, const std::string& metric) {
  const Estimate* const estimate = find(estimates, metric);
  if (estimate == nullptr) return ",";
  return fmt::format("{},{}", csv_number(estimate->mean), csv_number(estimate->standard_error));
}

std::string csv_row_name(const StudyRow& row) {
  const std::string rank = row.model.rank                  ? fmt::format("{}", *row.model.rank)
                           : row.model.key == "popularity" ? ""
                                                           : "full";
  return fmt::format("{},{},{},{},{}", csv_field(row.data), csv_field(row.model.key), rank,
                     row.model.zero_diagonal, to_string(row.kind));
}

std::string to_csv(const StudyResults& results) {
  std::string csv =
      "data,model,rank,zero_diagonal,kind,alpha,lambda,dropout,metric,validation_mean,validation_stderr,"
      "test_mean,test_stderr,objective,observed_weight,certificate_absolute,certificate_relative,"
      "certificate_worst_column,certificate_sampled,converged,"
      "certificate_verified_columns,certificate_probability,lambda_exponent,"
      "weighting,gamma\n";
  for (const StudyRow& row : results.rows) {
    for (const std::string& metric : results.metrics)
      csv += fmt::format("{},{},{},{},{}{}\n", csv_row_name(row), point(row), csv_field(metric),
                         csv_estimate(row.validation, metric), csv_estimate(row.test, metric), solution(row));
  }
  return csv;
}

}  // namespace poise
