#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace poise::serve {

/// A line of a csv file, or several that quotes hold together.
struct CsvRow {
  std::int64_t line = 0;
  std::vector<std::string> fields;
};

/// All rows of a csv file: commas, quotes as RFC 4180 has them, LF or CRLF; empty lines are left out.
/// Error{input} with the line for a quote that is never closed or stands inside a field.
std::vector<CsvRow> read_csv_rows(const std::filesystem::path& path);

}  // namespace poise::serve
