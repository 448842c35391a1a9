#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace poise::logs {

using Fields = std::vector<std::string>;

/// The first records of a delimited file that are not blank.
struct Sample {
  std::vector<Fields> records;
  std::size_t first_bytes = 0;   ///< bytes up to and including the first of them
  std::int64_t first_lines = 0;  ///< line ends among those bytes
};

/// Takes some ten records from a file's first bytes (`whole`: these are the whole file).
Sample take_sample(std::string_view bytes, bool whole, std::string_view delimiter);

/// The delimiter that cuts most of the first records into the same number of fields, the largest such number.
std::string guess_delimiter(std::string_view bytes, bool whole);

}  // namespace poise::logs
