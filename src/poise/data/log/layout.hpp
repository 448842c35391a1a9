#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

/// The role of a column, from names that public data sets use; case, blanks, '_' and '-' are ignored.
enum class ColumnRole { unknown, user, item, value };
ColumnRole role_of(std::string_view name);

}  // namespace poise::logs
