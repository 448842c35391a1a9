#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace poise::app {

/// Accepts a whole number from least to most.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// Accepts a finite number.
CLI::Validator finite_number();
/// Accepts a number from least to most.
CLI::Validator number_between(double least, double most);
/// Accepts a finite number above 0.
CLI::Validator positive_number();

/// Bytes from a size such as 8G, 1.5GiB or 500 MB; units count in 1024, B may be left out. Error{usage} when
/// it is none.
std::uint64_t parse_size(std::string_view text);
/// Turns such a size into its bytes, and refuses one below 64M.
CLI::Validator memory_size();

/// "a,b,c" -> {"a", "b", "c"}.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace poise::app
