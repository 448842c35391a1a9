#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poise/base/csv.hpp"
#include "poise/study/results.hpp"

/// What a study's results.csv and that of several splits are made of. A `Line` has a row and a metric.
namespace poise {

/// Which rows have a text in a column.
enum class CsvRows { all, trained };

template <class Line>
struct CsvColumn {
  const char* name;
  std::string (*text)(const Line&);
  CsvRows of = CsvRows::all;
};

/// As short as reads back to the same; "" for what is not finite.
std::string csv_number(double value);
std::string csv_number(const std::optional<double>& value);

/// The mean of a metric and its error, "" where there is none.
std::string csv_mean(const Estimates& estimates, const std::string& metric);
std::string csv_error(const Estimates& estimates, const std::string& metric);

/// "full" where a model has none, "" of popularity.
std::string csv_rank(const StudyModel& model);

/// The columns that name a row.
template <class Line>
std::vector<CsvColumn<Line>> csv_row_columns() {
  return {{"data", [](const Line& line) { return csv_field(line.row.data); }},
          {"model", [](const Line& line) { return csv_field(line.row.model.key); }},
          {"rank", [](const Line& line) { return csv_rank(line.row.model); }},
          {"zero_diagonal",
           [](const Line& line) { return std::string(line.row.model.zero_diagonal ? "true" : "false"); }},
          {"kind", [](const Line& line) { return std::string(to_string(line.row.kind)); }}};
}

/// The names of the columns.
template <class Line>
std::string csv_header(std::span<const CsvColumn<Line>> columns) {
  std::string header;
  for (const CsvColumn<Line>& column : columns) header.append(header.empty() ? "" : ",").append(column.name);
  return header + "\n";
}

template <class Line>
std::string csv_line(std::span<const CsvColumn<Line>> columns, const Line& line) {
  const bool trained = line.row.model.key != "popularity";
  std::string texts;
  for (const CsvColumn<Line>& column : columns) {
    if (&column != &columns.front()) texts += ',';
    if (trained || column.of == CsvRows::all) texts += column.text(line);
  }
  return texts + "\n";
}

}  // namespace poise
