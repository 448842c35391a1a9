#include "poise/serve/item_catalogue.hpp"

#include <algorithm>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/serve/csv_rows.hpp"
#include "poise/serve/lower_case.hpp"
#include "poise/serve/utf8.hpp"

namespace poise::serve {
namespace {

/// Letters, digits and every byte of other alphabets.
bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & '\x80') != 0; }

/// Calls body(begin, word) for each word of a folded text.
template <class Body>
void for_each_word(std::string_view text, const Body& body) {
  for (std::size_t k = 0; k < text.size();) {
    const std::size_t begin = k;
    while (k < text.size() && in_word(text[k])) ++k;
    if (k > begin) body(begin, text.substr(begin, k - begin));
    if (k < text.size()) ++k;
  }
}

std::size_t column_of(const std::vector<std::string>& names, std::string_view first, std::string_view second,
                      std::size_t otherwise) {
  for (const std::string_view wanted : {first, second}) {
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (lower_case(names[c]) == wanted) return c;
    }
  }
  return otherwise;
}

}  // namespace

ItemCatalogue::ItemCatalogue(Ids ids, Ids titles)
    : ids_(std::move(ids)), titles_(std::move(titles)), index_(ids_) {
  std::string text;
  for (std::int64_t item = 0; item < size(); ++item) {
    text = lower_case(title(item));
    if (!text.empty()) text += '\n';
    text += lower_case(ids_[item]);
    folded_.push_back(text);
    for_each_word(text, [&](std::size_t begin, std::string_view) {
      words_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::int32_t>(item)});
    });
  }
  std::ranges::sort(words_, [&](const Word& a, const Word& b) {
    const int order = from(a).compare(from(b));
    return order != 0 ? order < 0 : a.item < b.item;
  });
}

std::unique_ptr<const ItemCatalogue> ItemCatalogue::read_csv(const std::filesystem::path& path) {
  const std::vector<CsvRow> rows = read_csv_rows(path);
  if (rows.empty())
    fail(ErrorKind::input, "{} is empty; it should have a header such as id,title", path.string());
  const std::vector<std::string>& names = rows.front().fields;
  const std::size_t id = column_of(names, "id", "item", 0);
  const std::size_t title = column_of(names, "title", "name", id == 0 ? 1 : 0);
  if (names.size() < 2)
    fail(ErrorKind::input, "{}:1: there is one column; there should be ids and titles", path.string());
  Ids ids;
  Ids titles;
  std::vector<Column> columns;
  for (const std::string& name : names) columns.push_back({name, {}});
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const CsvRow& row = rows[r];
    if (row.fields.size() != names.size())
      fail(ErrorKind::input, "{}:{}: {} fields, but the header has {}", path.string(), row.line,
           row.fields.size(), names.size());
    if (row.fields[id].empty()) fail(ErrorKind::input, "{}:{}: no id", path.string(), row.line);
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (!is_utf8(row.fields[c]))
        fail(ErrorKind::input, "{}:{}: the text is not UTF-8", path.string(), row.line);
      columns[c].values.push_back(row.fields[c]);
    }
    ids.push_back(row.fields[id]);
    titles.push_back(row.fields[title]);
  }
  for (const std::size_t used : {std::max(id, title), std::min(id, title)})
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(used));
  auto result = std::make_unique<ItemCatalogue>(std::move(ids), std::move(titles));
  result->columns_ = std::move(columns);
  return result;
}

std::unique_ptr<const ItemCatalogue> ItemCatalogue::of_ids(const Ids& ids) {
  return std::make_unique<const ItemCatalogue>(ids, Ids());
}

std::string_view ItemCatalogue::title_of(std::string_view id) const {
  const auto item = has_titles() ? index_.find(id) : std::nullopt;
  return item ? titles_[*item] : std::string_view();
}

std::vector<std::pair<std::string_view, std::string_view>> ItemCatalogue::columns(std::int64_t item) const {
  std::vector<std::pair<std::string_view, std::string_view>> result;
  for (const Column& column : columns_) {
    if (!column.values[item].empty()) result.emplace_back(column.name, column.values[item]);
  }
  return result;
}

std::string_view ItemCatalogue::from(const Word& word) const { return folded_[word.item].substr(word.begin); }

bool ItemCatalogue::has_words(std::int64_t item, const std::vector<std::string>& words) const {
  return std::ranges::all_of(words, [&](const std::string& wanted) {
    bool found = false;
    for_each_word(folded_[item],
                  [&](std::size_t, std::string_view word) { found |= word.starts_with(wanted); });
    return found;
  });
}

std::vector<std::int64_t> ItemCatalogue::find(
    std::string_view text, std::int64_t most,
    const std::function<bool(std::string_view id)>& accepted) const {
  const std::string folded = lower_case(text);
  std::vector<std::string> words;
  for_each_word(folded, [&](std::size_t, std::string_view word) { words.emplace_back(word); });
  std::vector<std::int64_t> candidates;
  if (words.empty()) {
    for (std::int64_t item = 0; item < size() && std::ssize(candidates) < most; ++item) {
      if (accepted(ids_[item])) candidates.push_back(item);
    }
    return candidates;
  }
  // The longest word has the fewest items, usually; any word would do.
  const std::string& rarest = *std::ranges::max_element(words, {}, &std::string::size);
  auto at = std::ranges::lower_bound(words_, std::string_view(rarest), {},
                                     [&](const Word& word) { return from(word); });
  for (; at != words_.end() && from(*at).starts_with(rarest) && std::ssize(candidates) < most_looked_at; ++at)
    candidates.push_back(at->item);
  std::ranges::sort(candidates);
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  std::erase_if(candidates,
                [&](std::int64_t item) { return !has_words(item, words) || !accepted(ids_[item]); });
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](std::int64_t item) { return folded_[item].starts_with(folded); });
  candidates.resize(std::min<std::size_t>(candidates.size(), static_cast<std::size_t>(most)));
  return candidates;
}

}  // namespace poise::serve
