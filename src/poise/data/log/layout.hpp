#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "poise/data/log/delimited.hpp"
#include "poise/data/log_reader.hpp"

namespace poise::logs {

/// The layout of one delimited file, and where its rows begin.
struct FoundLayout {
  bool blank = false;  ///< the file has only blank lines
  DelimitedLayout layout;
  std::size_t header_bytes = 0;   ///< bytes up to and including the header
  std::int64_t header_lines = 0;  ///< line ends among them
  std::string reading;            ///< the layout in words: Interactions::reading
};

/// The reading of the formats that are not delimited, in words.
std::string describe_lines(const LogOptions& options);

/// Throws Error{usage} if the options contradict each other or the format.
void check_layout_options(const LogOptions& options);

/// Finds the layout from a file's first bytes (`whole`: these are the whole file). A column name that the
/// header does not have is an Error{input}.
FoundLayout find_layout(std::string_view sample, bool whole, const LogOptions& options,
                        const std::string& file);

/// The columns of a query's result: those asked for; else those with known names, if user and item have them;
/// else the first is the user, the second the item. Where no value is named, the third of three columns is
/// it, if it holds numbers that are no Unix times. `rows` are the first rows, at least one.
struct TableLayout {
  DelimitedLayout layout;
  std::string reading;  ///< in words
};
TableLayout find_table_layout(const std::vector<std::string>& names,
                              const std::vector<std::vector<std::string>>& rows, const LogOptions& options,
                              const std::string& file);

/// The role of a column, from names that public data sets use; case, blanks, '_' and '-' are ignored.
enum class ColumnRole { unknown, user, item, value, time };
ColumnRole role_of(std::string_view name);

}  // namespace poise::logs
