#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "poise/data/log/record.hpp"

namespace poise {

using TableFields = std::vector<std::string>;

/// The text of a table of items, decompressed; it was checked as logs are.
struct TableText {
  std::string delimiter;
  std::string bytes;
};

/// Reads delimited text as logs are read: plain, gzip or zstd, the delimiter found.
TableText read_table(const std::filesystem::path& path);

/// Calls take(line, fields) for each record that is not blank; the first is the header. A record that is not
/// whole (quotes as RFC 4180 has them, UTF-8) goes to bad(line, problem).
void for_each_record(const TableText& text, const std::function<void(std::int64_t, const TableFields&)>& take,
                     const std::function<void(std::int64_t, std::string_view)>& bad);

/// The first column with one of these names, in the order of the names; case does not count.
std::optional<std::size_t> column_named(const TableFields& names, std::span<const std::string_view> wanted);

/// The column of item ids: `id`, `item`, or another name that an item has in logs.
std::optional<std::size_t> column_of_items(const TableFields& names);

}  // namespace poise
