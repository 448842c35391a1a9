#include "poise/serve/csv_rows.hpp"

#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "poise/base/byte_order_mark.hpp"
#include "poise/base/error.hpp"

namespace poise::serve {
namespace {

/// Reads a field at `at`, and leaves that at the comma or the end of the line behind it.
std::string csv_text(std::string_view text, std::size_t& at, std::int64_t& line, const std::string& file) {
  if (at >= text.size() || text[at] != '"') {
    const std::size_t end = std::min(text.find_first_of(",\n", at), text.size());
    std::string field(text.substr(at, end - at));
    at = end;
    if (field.find('"') != std::string::npos)
      fail(ErrorKind::input, "{}:{}: a quote stands inside a field; write the field in quotes", file, line);
    if (field.ends_with('\r')) field.pop_back();
    return field;
  }
  const std::int64_t first = line;
  std::string field;
  for (++at; at < text.size(); ++at) {
    line += text[at] == '\n' ? 1 : 0;
    if (text[at] != '"') {
      field += text[at];
    } else if (at + 1 < text.size() && text[at + 1] == '"') {
      field += text[at++];
    } else {
      ++at;
      if (at < text.size() && text[at] == '\r') ++at;
      if (at < text.size() && text[at] != ',' && text[at] != '\n')
        fail(ErrorKind::input, "{}:{}: text follows a closing quote", file, line);
      return field;
    }
  }
  fail(ErrorKind::input, "{}:{}: a quote is never closed", file, first);
}

}  // namespace

std::vector<CsvRow> read_csv_rows(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    fail_on_file(ErrorKind::input, "cannot read {}; it should be a csv file", path.string());
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::string_view text = all;
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<CsvRow> rows;
  std::int64_t line = 1;
  for (std::size_t at = 0; at < text.size(); ++at, ++line) {
    CsvRow row{.line = line, .fields = {csv_text(text, at, line, path.string())}};
    while (at < text.size() && text[at] == ',') {
      ++at;
      row.fields.push_back(csv_text(text, at, line, path.string()));
    }
    if (row.fields.size() > 1 || !row.fields.front().empty()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace poise::serve
