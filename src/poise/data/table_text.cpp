#include "poise/data/table_text.hpp"

#include <algorithm>
#include <array>

#include "poise/base/lower_case.hpp"
#include "poise/base/utf8.hpp"
#include "poise/data/log/byte_source.hpp"
#include "poise/data/log/chunks.hpp"
#include "poise/data/log/layout.hpp"
#include "poise/data/log/sample.hpp"
#include "poise/data/log/text.hpp"

namespace poise {

namespace {

constexpr std::size_t most_fields = 10'000;

/// What is wrong with a record; nothing where it is whole.
std::string_view problem_of(const logs::Record& record, std::string_view bytes) {
  if (bytes.find('\0') != std::string_view::npos) return logs::nul_byte;
  if (record.end != logs::RecordEnd::complete) return problem_of(record.end);
  if (record.count > most_fields) return "there are more than 10000 fields";
  return is_utf8(bytes) ? "" : "the text is not UTF-8; convert the file";
}

}  // namespace

TableText read_table(const std::filesystem::path& path) {
  logs::ChunkReader reader(logs::open_bytes(path), path.string(), std::size_t{1} << 20U);
  const std::string_view sample = reader.sample();
  TableText text{.delimiter = logs::guess_delimiter(sample, reader.at_end()), .bytes = {}};
  for (bool last = false; !last;) {
    const logs::Chunk chunk = reader.next();
    text.bytes += chunk.bytes;
    last = chunk.last;
  }
  return text;
}

void for_each_record(const TableText& text, const std::function<void(std::int64_t, const TableFields&)>& take,
                     const std::function<void(std::int64_t, std::string_view)>& bad) {
  const std::string_view bytes = text.bytes;
  logs::Record record;
  std::int64_t line = 1;
  for (std::size_t at = 0; at < bytes.size(); at += record.size, line += record.lines) {
    logs::read_record(bytes.substr(at), text.delimiter, most_fields, record);
    const std::string_view whole = bytes.substr(at, record.size);
    if (const std::string_view problem = problem_of(record, whole); !problem.empty()) {
      bad(line, problem);
      continue;
    }
    if (record.count == 1 && record.fields[0].empty() && whole.front() != '"') continue;
    record.fields.resize(record.count);
    take(line, record.fields);
  }
}

std::optional<std::size_t> column_named(const TableFields& names, std::span<const std::string_view> wanted) {
  for (const std::string_view each : wanted) {
    const auto found = std::ranges::find_if(
        names, [&](const std::string& name) { return lower_case(logs::trimmed(name)) == each; });
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  return std::nullopt;
}

std::optional<std::size_t> column_of_items(const TableFields& names) {
  constexpr std::array<std::string_view, 2> usual = {"id", "item"};
  if (const auto named = column_named(names, usual)) return named;
  const auto found = std::ranges::find_if(
      names, [](const std::string& name) { return logs::role_of(name) == logs::ColumnRole::item; });
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace poise
