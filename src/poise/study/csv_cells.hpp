#pragma once

#include <optional>
#include <string>
#include <vector>

#include "poise/base/csv.hpp"
#include "poise/study/results.hpp"

/// What a study's results.csv and that of several splits are made of.
namespace poise {

/// The text of a line under the name of its column.
struct CsvCell {
  const char* name;
  std::string text;
};
using CsvCells = std::vector<CsvCell>;

/// The shortest text that reads back to the same number; "" if it is not finite.
std::string csv_number(double value);
std::string csv_number(const std::optional<double>& value);

/// The mean of a metric and its error, "" where there is none.
std::string csv_mean(const Estimates& estimates, const std::string& metric);
std::string csv_error(const Estimates& estimates, const std::string& metric);

/// Which row it is, and `more`.
CsvCells csv_cells(const StudyRow& row, const CsvCells& more);

/// The names of the cells, and their texts.
std::string csv_header(const CsvCells& cells);
std::string csv_line(const CsvCells& cells);

}  // namespace poise
