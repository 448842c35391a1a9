#include "poise/data/item_table.hpp"

#include <algorithm>
#include <array>

#include "poise/base/error.hpp"
#include "poise/base/lower_case.hpp"
#include "poise/base/utf8.hpp"
#include "poise/data/log/byte_source.hpp"
#include "poise/data/log/chunks.hpp"
#include "poise/data/log/layout.hpp"
#include "poise/data/log/record.hpp"
#include "poise/data/log/sample.hpp"
#include "poise/data/log/text.hpp"

namespace poise {

namespace {

constexpr std::size_t most_fields = 10'000;

/// The text of a file, decompressed; it was checked as logs are.
struct TableText {
  std::string delimiter;
  std::string bytes;
};

TableText text_of(const std::filesystem::path& path) {
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

/// What is wrong with a record; nothing where it is whole.
std::string_view problem_of(const logs::Record& record, std::string_view bytes) {
  if (bytes.find('\0') != std::string_view::npos) return "the line holds a NUL byte; is it a text file?";
  if (record.end == logs::RecordEnd::after_closing)
    return "text follows a closing quote; double the quotes inside a quoted field";
  if (record.end != logs::RecordEnd::complete)
    return "a quoted field is never closed; close it, or double the quote if it is text";
  return is_utf8(bytes) ? "" : "the text is not UTF-8; convert the file";
}

/// Calls take(line, fields) for each record that is not blank; the first is the header.
template <class Take>
void for_each_record(const TableText& text, const std::string& file, const Take& take) {
  const std::string_view bytes = text.bytes;
  logs::Record record;
  std::int64_t line = 1;
  for (std::size_t at = 0; at < bytes.size(); at += record.size, line += record.lines) {
    logs::read_record(bytes.substr(at), text.delimiter, most_fields, record);
    const std::string_view whole = bytes.substr(at, record.size);
    if (const std::string_view problem = problem_of(record, whole); !problem.empty())
      fail(ErrorKind::input, "{}:{}: {}", file, line, problem);
    if (record.count == 1 && record.fields[0].empty() && whole.front() != '"') continue;
    if (record.count > most_fields)
      fail(ErrorKind::input, "{}:{}: there are more than {} fields", file, line, most_fields);
    record.fields.resize(record.count);
    take(line, record.fields);
  }
}

/// The first column with one of these names, in the order of the names.
template <std::size_t count>
std::optional<std::size_t> column_named(const logs::Fields& names,
                                        const std::array<std::string_view, count>& wanted) {
  for (const std::string_view each : wanted) {
    const auto found = std::ranges::find_if(
        names, [&](const std::string& name) { return lower_case(logs::trimmed(name)) == each; });
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  return std::nullopt;
}

std::size_t id_column(const logs::Fields& names) {
  if (const auto named = column_named<2>(names, {"id", "item"})) return *named;
  const auto found = std::ranges::find_if(
      names, [](const std::string& name) { return logs::role_of(name) == logs::ColumnRole::item; });
  return found == names.end() ? 0 : static_cast<std::size_t>(found - names.begin());
}

/// Rows as columns.
class TableColumns {
 public:
  explicit TableColumns(std::string file) : file_(std::move(file)) {}

  void take(std::int64_t line, const logs::Fields& fields) {
    if (columns_.empty()) {
      if (fields.size() < 2)
        fail(ErrorKind::input, "{}:{}: there is one column; there should be ids and titles", file_, line);
      for (const std::string& name : fields) columns_.push_back({std::string(logs::trimmed(name)), {}});
      id_ = id_column(fields);
      title_ = column_named<2>(fields, {"title", "name"}).value_or(id_ == 0 ? 1 : 0);
      if (title_ == id_) title_ = id_ == 0 ? 1 : 0;
      return;
    }
    if (fields.size() != columns_.size())
      fail(ErrorKind::input, "{}:{}: {} fields, but the header has {}; quote fields that hold the delimiter",
           file_, line, fields.size(), columns_.size());
    if (fields[id_].empty()) fail(ErrorKind::input, "{}:{}: no id", file_, line);
    for (std::size_t c = 0; c < fields.size(); ++c) columns_[c].values.push_back(fields[c]);
  }

  std::unique_ptr<const ItemTable> table() && {
    if (columns_.empty())
      fail(ErrorKind::input, "{} is empty; it should have a header such as id,title", file_);
    Ids ids = std::move(columns_[id_].values);
    Ids titles = std::move(columns_[title_].values);
    for (const std::size_t used : {std::max(id_, title_), std::min(id_, title_)})
      columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(used));
    return std::make_unique<const ItemTable>(std::move(ids), std::move(titles), std::move(columns_));
  }

 private:
  std::string file_;
  std::size_t id_ = 0;
  std::size_t title_ = 1;
  std::vector<ItemTable::Column> columns_;
};

std::optional<std::size_t> picture_column(const std::vector<ItemTable::Column>& columns) {
  logs::Fields names;
  for (const ItemTable::Column& column : columns) names.push_back(column.name);
  return column_named<4>(names, {"picture", "image", "picture_url", "image_url"});
}

}  // namespace

ItemTable::ItemTable(Ids ids, Ids titles, std::vector<Column> columns)
    : ids_(std::move(ids)),
      titles_(std::move(titles)),
      columns_(std::move(columns)),
      pictures_(picture_column(columns_)),
      index_(ids_) {}

std::unique_ptr<const ItemTable> ItemTable::read(const std::filesystem::path& path) {
  TableColumns columns(path.string());
  for_each_record(text_of(path), path.string(),
                  [&](std::int64_t line, const logs::Fields& fields) { columns.take(line, fields); });
  return std::move(columns).table();
}

std::string_view ItemTable::title_of(std::string_view id) const {
  const auto item = titles_.size() > 0 ? index_.find(id) : std::nullopt;
  return item ? titles_[*item] : std::string_view();
}

std::string_view ItemTable::picture_of(std::string_view id) const {
  const auto item = pictures_ ? index_.find(id) : std::nullopt;
  return item ? columns_[*pictures_].values[*item] : std::string_view();
}

std::vector<std::pair<std::string_view, std::string_view>> ItemTable::columns(std::int64_t item) const {
  std::vector<std::pair<std::string_view, std::string_view>> result;
  for (const Column& column : columns_) {
    if (!column.values[item].empty()) result.emplace_back(column.name, column.values[item]);
  }
  return result;
}

}  // namespace poise
