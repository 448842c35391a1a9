#include <cmath>

#include <fmt/format.h>

#include "poise/base/csv.hpp"
#include "poise/study/results.hpp"

namespace poise {

namespace {

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string mean(const Estimate* estimate) { return estimate ? number(estimate->mean) : ""; }

std::string standard_error(const Estimate* estimate) {
  return estimate && estimate->standard_error ? number(*estimate->standard_error) : "";
}

std::string solution(const StudyRow& row) {
  if (row.model.key == "popularity") return ",,,,,,,,,,,,";
  const Certificate& certificate = row.certificate;
  return fmt::format(",{},{},{},{},{},{},{},{},{},{},{},{}", number(row.objective),
                     number(row.observed_weight), number(certificate.absolute), number(certificate.relative),
                     row.model.rank ? "" : number(certificate.worst_column), false, row.converged,
                     certificate.verified_columns, number(certificate.probability),
                     number(row.lambda_exponent), row.model.weighting, number(row.gamma));
}

std::string point(const StudyRow& row) {
  const bool popularity = row.model.key == "popularity";
  const std::string rank = row.model.rank ? fmt::format("{}", *row.model.rank) : popularity ? "" : "full";
  const std::string options =
      popularity ? ",," : fmt::format("{},{},{}", number(row.alpha), number(row.lambda), number(row.dropout));
  return fmt::format("{},{},{},{},{},{}", csv_field(row.data), csv_field(row.model.key), rank,
                     row.model.zero_diagonal, to_string(row.kind), options);
}

}  // namespace

std::string to_csv(const StudyResults& results) {
  std::string csv =
      "data,model,rank,zero_diagonal,kind,alpha,lambda,dropout,metric,validation_mean,validation_stderr,"
      "test_mean,test_stderr,objective,observed_weight,certificate_absolute,certificate_relative,"
      "certificate_worst_column,certificate_sampled,converged,"
      "certificate_verified_columns,certificate_probability,lambda_exponent,"
      "weighting,gamma\n";
  for (const StudyRow& row : results.rows) {
    for (const std::string& metric : results.metrics) {
      const Estimate* validation = find(row.validation, metric);
      const Estimate* test = find(row.test, metric);
      csv += fmt::format("{},{},{},{},{},{}{}\n", point(row), csv_field(metric), mean(validation),
                         standard_error(validation), mean(test), standard_error(test), solution(row));
    }
  }
  return csv;
}

}  // namespace poise
