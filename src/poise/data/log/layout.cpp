#include "poise/data/log/layout.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/data/log/sample.hpp"
#include "poise/data/log/text.hpp"
#include "poise/data/log/time_column.hpp"
#include "poise/data/numbers.hpp"

namespace poise::logs {

namespace {

constexpr int most_columns = 100'000;
constexpr int no_column = -1;  // of an empty name

bool is_number(const Fields& fields, std::size_t column) {
  return column < fields.size() && parse_number(fields[column]).has_value();
}

std::optional<int> column_number(std::string_view column) {
  if (!is_whole_number(column)) return std::nullopt;
  const std::optional<std::int64_t> number = parse_whole_number(column, most_columns);
  if (!number) {
    fail(ErrorKind::usage, "column {} is out of range; at most {} columns are read", column, most_columns);
  }
  return static_cast<int>(*number);
}

bool any_by_name(const std::vector<std::string>& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const std::string& column) {
    return !column.empty() && !column_number(column).has_value();
  });
}

bool wants_value(LogFormat format) { return format == LogFormat::movielens || format == LogFormat::triplets; }

std::string listed(const Fields& names) {
  constexpr std::size_t most = 50;
  std::string list;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k)
    list += (k > 0 ? ", " : "") + shown(names[k]);
  return list + (names.size() > most ? ", ..." : "");
}

/// Refuses a column that is asked for twice.
void check_different(const DelimitedLayout& layout) {
  std::vector<int> used = {layout.user, layout.item};
  for (const std::optional<int> column : {layout.value, layout.time}) {
    if (column) used.push_back(*column);
  }
  std::ranges::sort(used);
  if (std::ranges::adjacent_find(used) != used.end())
    fail(ErrorKind::usage, "a column is given twice; user, item, value and time are different columns");
}

/// The requested columns; `names` is empty if there is no header.
DelimitedLayout asked_columns(const std::vector<std::string>& columns, const Fields& names,
                              const std::string& file) {
  const bool from_zero = std::any_of(columns.begin(), columns.end(),
                                     [](const std::string& column) { return column_number(column) == 0; });
  std::vector<int> numbers;
  for (const std::string& column : columns) {
    if (column.empty()) {
      numbers.push_back(no_column);
      continue;
    }
    if (const std::optional<int> number = column_number(column)) {
      numbers.push_back(*number - (from_zero ? 0 : 1));
      continue;
    }
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return name == column || trimmed(name) == column;
    });
    if (found == names.end()) {
      fail(ErrorKind::input, "{} has no column {}; its columns are {}", file, shown(column), listed(names));
    }
    numbers.push_back(static_cast<int>(found - names.begin()));
  }
  DelimitedLayout layout;
  layout.user = numbers[0];
  layout.item = numbers[1];
  if (numbers.size() > 2 && numbers[2] != no_column) layout.value = numbers[2];
  if (numbers.size() > 3) layout.time = numbers[3];
  check_different(layout);
  return layout;
}

std::optional<int> find_role(const Fields& names, ColumnRole role) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& name) { return role_of(name) == role; });
  return found == names.end() ? std::nullopt : std::optional<int>(static_cast<int>(found - names.begin()));
}

/// Whether the line holds column names: a user's name is enough; an item's or a value's alone could be an id.
bool has_known_names(const Fields& fields) {
  return find_role(fields, ColumnRole::user) ||
         (find_role(fields, ColumnRole::item) && find_role(fields, ColumnRole::value));
}

/// Whether the names show that the first line is a header. Rows can hold such words too (a column of
/// categories), but then the next row does as well, or the row holds a number.
bool is_header_by_names(const Fields& first, const Fields& second) {
  const bool number = std::any_of(first.begin(), first.end(),
                                  [](const std::string& field) { return parse_number(field).has_value(); });
  return !number && has_known_names(first) && !has_known_names(second);
}

/// Whether all numbers of a column are Unix times.
bool holds_times(const std::vector<Fields>& records, std::size_t column) {
  bool any = false;
  for (const Fields& fields : records) {
    if (!is_number(fields, column)) continue;
    if (!looks_like_unix_time(*parse_number(fields[column]))) return false;
    any = true;
  }
  return any;
}

/// The columns if none are requested; there is at least one record.
DelimitedLayout usual_columns(LogFormat format, bool header, const std::vector<Fields>& records) {
  DelimitedLayout layout;
  if (header) {
    const Fields& first = records.front();
    const std::optional<int> user = find_role(first, ColumnRole::user);
    const std::optional<int> item = find_role(first, ColumnRole::item);
    const std::optional<int> value = find_role(first, ColumnRole::value);
    layout.user = user.value_or(item == 0 ? 1 : 0);
    layout.item = item.value_or(layout.user == 1 ? 0 : 1);
    // If the ids' names are unknown, a value's name counts only at its usual position.
    if (value && (user || item || value == 2) && value != layout.user && value != layout.item) {
      layout.value = value;
    }
  } else {
    // At least half of the records, because the first may be a bad line.
    const auto numbers = std::count_if(records.begin(), records.end(),
                                       [](const Fields& fields) { return is_number(fields, 2); });
    if (2 * numbers >= static_cast<std::ptrdiff_t>(records.size()) && !holds_times(records, 2))
      layout.value = 2;
  }
  if (wants_value(format) && !layout.value) {
    layout.value = 0;
    while (layout.value == layout.user || layout.value == layout.item) ++*layout.value;
  }
  if (format == LogFormat::pairs) layout.value.reset();
  return layout;
}

bool finds_header(const LogOptions& options, const std::vector<Fields>& records) {
  if (options.header != Header::automatic) return options.header == Header::yes;
  if (any_by_name(options.columns)) return true;
  const Fields& first = records[0];
  const Fields second = records.size() > 1 ? records[1] : Fields();
  if (is_header_by_names(first, second)) return true;
  DelimitedLayout layout;
  if (!options.columns.empty()) {
    layout = asked_columns(options.columns, {}, "");
  } else if (options.format != LogFormat::pairs && (wants_value(options.format) || is_number(second, 2))) {
    layout.value = 2;
  }
  // Numbers are not column names: such a line is a row, perhaps a bad one.
  if (is_number(first, layout.user) || is_number(first, layout.item)) return false;
  if (layout.value && static_cast<int>(first.size()) > *layout.value) {
    return !first[*layout.value].empty() && !is_number(first, *layout.value);
  }
  return is_number(second, layout.user) || is_number(second, layout.item);
}

/// Text of the file as shown(), without the quotes.
std::string plain(std::string_view text) {
  const std::string quoted = shown(text);
  return quoted.substr(1, quoted.size() - 2);
}

/// Says which columns were taken without knowing their names.
std::string taken_by_position(const DelimitedLayout& layout, const Fields& names) {
  const bool user = find_role(names, ColumnRole::user).has_value();
  const bool item = find_role(names, ColumnRole::item).has_value();
  if (user && item) return "";
  if (!user && !item)
    return fmt::format("; no name is known, so the first two are taken: {} names others", "columns"_p);
  return fmt::format("; no name of {} is known, so column {} is taken: {} names others",
                     user ? "items" : "users", (user ? layout.item : layout.user) + 1, "columns"_p);
}

/// The layout in words. With a header the first record holds the column names.
std::string describe(const DelimitedLayout& layout, bool header, const std::vector<Fields>& records,
                     const LogOptions& options) {
  const Fields& first = records.front();
  const auto column = [&](int number) {
    const bool named = header && number < static_cast<int>(first.size());
    const bool times = !header && !layout.value && number == 2 && holds_times(records, 2);
    return named   ? fmt::format("column {} ({})", number + 1, plain(trimmed(first[number])))
           : times ? fmt::format("column {} (Unix times; {} can name it as value)", number + 1, "columns"_p)
                   : fmt::format("column {}", number + 1);
  };
  std::string text =
      fmt::format("{}, delimiter '{}', {}, user = {}, item = {}, {}", log_format_name(options.format),
                  layout.delimiter == "\t" ? "\\t" : plain(layout.delimiter), header ? "header" : "no header",
                  column(layout.user), column(layout.item),
                  layout.value ? fmt::format("value = {}", column(*layout.value)) : std::string("no value"));
  if (layout.time) text += fmt::format(", time = {}", column(*layout.time));
  if (options.keep_above) text += fmt::format(", rows with a value above {}", *options.keep_above);
  constexpr int most = 5;
  int unused = 0;
  for (int k = 0; k < static_cast<int>(first.size()); ++k) {
    if (is_used(layout, k)) continue;
    if (++unused <= most) text += (unused == 1 ? ", unused: " : ", ") + column(k);
  }
  if (unused > most) text += fmt::format(" and {} more", unused - most);
  if (header && unused > 0 && options.columns.empty()) text += taken_by_position(layout, first);
  return text;
}

}  // namespace

std::string describe_lines(const LogOptions& options) {
  std::string text(log_format_name(options.format));
  text += options.format != LogFormat::netflix ? ", lines 'user item item ...', no value"
          : options.times                      ? ", lines 'movie:' and under each lines 'user,rating,date'"
                                               : ", lines 'movie:' and under each lines 'user,rating'";
  if (options.keep_above) text += fmt::format(", rows with a rating above {}", *options.keep_above);
  return text;
}

void check_layout_options(const LogOptions& options) {
  const std::size_t count = options.columns.size();
  if (count != 0) {
    const bool value = count > 2 && !options.columns[2].empty();
    if (count < 2 || count > 4)
      fail(ErrorKind::usage, "{} columns given; name user, item and perhaps value and time", count);
    for (std::size_t k = 0; k < count; ++k) {
      if (options.columns[k].empty() && (k != 2 || count == 3))
        fail(ErrorKind::usage, "a column has no name; only the value may be left empty before a time");
    }
    if (options.format == LogFormat::pairs && value) {
      fail(ErrorKind::usage, "the format pairs has no value column; name two columns, or choose csv");
    }
    if (options.format == LogFormat::triplets && !value) {
      fail(ErrorKind::usage, "the format triplets has a value column; name three columns, or choose pairs");
    }
    if (any_by_name(options.columns) && options.header == Header::no) {
      fail(ErrorKind::usage, "columns can be named only where there is a header; give their numbers");
    }
  }
  if (options.delimiter.find_first_of("\r\n\"") != std::string::npos) {
    fail(ErrorKind::usage, "a delimiter cannot hold line ends or quotes");
  }
}

FoundLayout find_layout(std::string_view sample, bool whole, const LogOptions& options,
                        const std::string& file) {
  const std::string delimiter = options.delimiter == "\\t"  ? "\t"
                                : options.delimiter.empty() ? guess_delimiter(sample, whole)
                                                            : options.delimiter;
  const Sample taken = take_sample(sample, whole, delimiter);
  FoundLayout found;
  found.layout.delimiter = delimiter;
  found.blank = taken.records.empty();
  if (found.blank) return found;
  const bool header = finds_header(options, taken.records);
  if (options.columns.empty()) {
    found.layout = usual_columns(options.format, header, taken.records);
  } else {
    found.layout = asked_columns(options.columns, header ? taken.records.front() : Fields(), file);
  }
  found.layout.delimiter = delimiter;
  if (!options.times) found.layout.time.reset();
  if (options.times && options.columns.size() < 4) {
    const auto rows = std::span(taken.records).subspan(header ? 1 : 0);
    found.layout.time = time_column(taken.records.front(), rows, header, found.layout, false);
  }
  found.reading = describe(found.layout, header, taken.records, options);
  if (header) {
    found.header_bytes = taken.first_bytes;
    found.header_lines = taken.first_lines;
  }
  return found;
}

TableLayout find_table_layout(const Fields& names, const std::vector<Fields>& rows, const LogOptions& options,
                              const std::string& file) {
  TableLayout found;
  DelimitedLayout& layout = found.layout;
  if (!options.columns.empty()) {
    layout = asked_columns(options.columns, names, file);
    const int last = std::max({layout.user, layout.item, layout.value.value_or(0), layout.time.value_or(0)});
    if (last >= static_cast<int>(names.size()))
      fail(ErrorKind::usage, "the query has {} columns, and column {} is asked for", names.size(), last + 1);
  } else {
    const auto user = find_role(names, ColumnRole::user);
    const auto item = find_role(names, ColumnRole::item);
    if (user && item)
      layout = {.delimiter = {}, .user = *user, .item = *item, .value = find_role(names, ColumnRole::value)};
    if (options.times) layout.time = time_column(names, rows, true, layout, true);
    if (!layout.value && names.size() == (layout.time ? 4 : 3)) {
      const int rest = (layout.time ? 6 : 3) - layout.user - layout.item - layout.time.value_or(0);
      const auto numbers = std::ranges::count_if(
          rows, [&](const Fields& fields) { return is_number(fields, static_cast<std::size_t>(rest)); });
      if (2 * numbers >= std::ssize(rows) && !holds_times(rows, static_cast<std::size_t>(rest)))
        layout.value = rest;
    }
  }
  if (options.times && options.columns.size() == 2)
    layout.time = time_column(names, rows, true, layout, true);
  if (!options.times) layout.time.reset();
  const auto column = [&](int number) {
    return fmt::format("column {} ({})", number + 1, plain(names[number]));
  };
  found.reading = fmt::format("sqlite, user = {}, item = {}, {}", column(layout.user), column(layout.item),
                              layout.value ? "value = " + column(*layout.value) : std::string("no value"));
  if (layout.time) found.reading += ", time = " + column(*layout.time);
  if (options.keep_above) found.reading += fmt::format(", rows with a value above {}", *options.keep_above);
  return found;
}

}  // namespace poise::logs
