#include "poise/data/item_table.hpp"

#include <algorithm>
#include <array>

#include "poise/base/error.hpp"
#include "poise/data/log/text.hpp"
#include "poise/data/table_text.hpp"

namespace poise {

namespace {

/// Rows as columns.
class TableColumns {
 public:
  explicit TableColumns(std::string file) : file_(std::move(file)) {}

  void take(std::int64_t line, const TableFields& fields) {
    if (columns_.empty()) {
      if (fields.size() < 2)
        fail(ErrorKind::input, "{}:{}: there is one column; there should be ids and titles", file_, line);
      for (const std::string& name : fields) columns_.push_back({std::string(logs::trimmed(name)), {}});
      id_ = column_of_items(fields).value_or(0);
      constexpr std::array<std::string_view, 2> titles = {"title", "name"};
      title_ = column_named(fields, titles).value_or(id_ == 0 ? 1 : 0);
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
  TableFields names;
  for (const ItemTable::Column& column : columns) names.push_back(column.name);
  constexpr std::array<std::string_view, 4> pictures = {"picture", "image", "picture_url", "image_url"};
  return column_named(names, pictures);
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
  for_each_record(
      read_table(path), [&](std::int64_t line, const TableFields& fields) { columns.take(line, fields); },
      [&](std::int64_t line, std::string_view problem) {
        fail(ErrorKind::input, "{}:{}: {}", path.string(), line, problem);
      });
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
