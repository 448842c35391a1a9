#include "poise/data/log/sqlite.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "poise/base/error.hpp"
#include "poise/data/log/layout.hpp"
#include "poise/data/log/merger.hpp"
#include "poise/data/log/sample.hpp"
#include "poise/data/log/text.hpp"

namespace poise::logs {

namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

Database open_database(const std::string& file, const Observer* observer) {
  constexpr int wait = 10'000;                  // ms, for a writer to finish
  constexpr int steps_between_looks = 100'000;  // of SQLite's virtual machine: some milliseconds
  sqlite3* opened = nullptr;
  const int status =
      sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(opened);
  if (status != SQLITE_OK)
    fail(ErrorKind::input, "cannot open the database {}: {}", file,
         opened != nullptr ? sqlite3_errmsg(opened) : "no memory");
  sqlite3_busy_timeout(opened, wait);
  const auto asked_to_stop = [](void* seen) -> int {
    try {
      stop_if_asked(static_cast<const Observer*>(seen));
    } catch (...) {
      return 1;  // run() throws it again
    }
    return 0;
  };
  sqlite3_progress_handler(opened, steps_between_looks, asked_to_stop, const_cast<Observer*>(observer));
  return database;
}

std::string tables_of(sqlite3* database) {
  constexpr int most = 20;
  sqlite3_stmt* made = nullptr;
  constexpr const char* query =
      "select name from sqlite_master where type in ('table', 'view') order by name";
  if (sqlite3_prepare_v2(database, query, -1, &made, nullptr) != SQLITE_OK) return "none that can be read";
  const Statement statement(made);
  std::string tables;
  for (int k = 0; sqlite3_step(made) == SQLITE_ROW; ++k) {
    if (k == most) return tables + ", ...";
    tables += (k > 0 ? ", " : "") + shown(reinterpret_cast<const char*>(sqlite3_column_text(made, 0)));
  }
  return tables.empty() ? "none" : tables;
}

/// A query and the row at which it stands.
class Query {
 public:
  Query(std::string file, const std::string& text, const Observer* observer)
      : file_(std::move(file)), observer_(observer), database_(open_database(file_, observer)) {
    if (text.empty())
      fail(ErrorKind::usage,
           "{} is an SQLite database: say what to read with {}, as in \"select user, item from "
           "ratings\"; its tables are {}",
           file_, "query"_p, tables_of(database_.get()));
    sqlite3_stmt* made = nullptr;
    const char* rest = nullptr;
    const int status =
        sqlite3_prepare_v2(database_.get(), text.c_str(), static_cast<int>(text.size()), &made, &rest);
    statement_.reset(made);
    if (status != SQLITE_OK) {
      const std::string problem = sqlite3_errmsg(database_.get());  // the next statement replaces it
      fail(ErrorKind::input, "{} cannot answer the query: {}; its tables are {}", file_, problem,
           tables_of(database_.get()));
    }
    const std::string_view behind = rest;
    if (made == nullptr || behind.find_first_not_of(" \t\r\n;") != std::string_view::npos)
      fail(ErrorKind::usage, "{} takes one statement", "query"_p);
    if (sqlite3_stmt_readonly(made) == 0 || columns() == 0)
      fail(ErrorKind::usage, "{} takes a select: it only reads", "query"_p);
    if (columns() < 2)
      fail(ErrorKind::usage, "{} selects one column; select user, item and perhaps a value", "query"_p);
  }

  /// Goes to the next row; false behind the last.
  bool step() {
    const int status = sqlite3_step(statement_.get());
    if (status == SQLITE_DONE) return false;
    if (status != SQLITE_ROW) {
      stop_if_asked(observer_);
      fail(ErrorKind::input, "{}, row {}: {}", file_, row_ + 1, sqlite3_errmsg(database_.get()));
    }
    ++row_;
    return true;
  }
  [[nodiscard]] int columns() const { return sqlite3_column_count(statement_.get()); }
  [[nodiscard]] Fields names() const {
    Fields names;
    for (int c = 0; c < columns(); ++c) names.emplace_back(sqlite3_column_name(statement_.get(), c));
    return names;
  }
  [[nodiscard]] bool is_blob(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_BLOB;
  }
  /// The field as text, until the next step; empty for NULL.
  [[nodiscard]] std::string_view text(int column) const {
    const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    if (bytes == nullptr) return {};
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
  }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Begins again at the first row.
  void rewind() {
    sqlite3_reset(statement_.get());
    row_ = 0;
  }

 private:
  std::string file_;
  const Observer* observer_;
  Database database_;
  Statement statement_;
  std::int64_t row_ = 0;
};

/// The first rows, for finding the columns.
std::vector<Fields> first_rows(Query& query) {
  constexpr std::size_t most = 10;
  std::vector<Fields> rows;
  while (rows.size() < most && query.step()) {
    Fields& row = rows.emplace_back();
    for (int c = 0; c < query.columns(); ++c) row.emplace_back(query.text(c));
  }
  query.rewind();
  return rows;
}

bool add_row(const Query& query, const DelimitedLayout& layout, ParsedChunk& parsed) {
  for (const int column :
       {layout.user, layout.item, layout.value.value_or(layout.user), layout.time.value_or(layout.user)}) {
    if (query.is_blob(column)) return parsed.reject("a field is a blob; select texts and numbers");
    if (query.text(column).find('\0') != std::string_view::npos)
      return parsed.reject("a field holds a NUL character");
  }
  Row row{.user = query.text(layout.user), .item = query.text(layout.item), .value = {}};
  if (layout.value) row.value = query.text(*layout.value);
  if (layout.time) row.time = query.text(*layout.time);
  return parsed.add(row);
}

/// Gives the rows of one database to the merger; returns how they were read.
TableLayout read_one(std::size_t input, Query& query, const LogOptions& options, const RowRules& rules,
                     Merger& merger) {
  constexpr std::int64_t rows_at_a_time = 1 << 16;
  const std::vector<Fields> sample = first_rows(query);
  if (sample.empty()) fail(ErrorKind::input, "the query gives no row of {}", query.file());
  TableLayout found = find_table_layout(query.names(), sample, options, query.file());
  if ((options.keep_above || options.dislike_below) && !found.layout.value)
    fail(ErrorKind::usage,
         "the query selects no value to compare with a threshold; select it, or leave the threshold out");
  if (options.times && !found.layout.time)
    fail(ErrorKind::usage,
         "the query selects no times, which the split needs; select them as the fourth "
         "column, or name it with {}",
         "columns"_p);
  bool more = query.step();
  for (bool first = true; more; first = false) {
    ParsedChunk parsed(rules);
    while (more && parsed.lines < rows_at_a_time) {
      ++parsed.records;
      if (!add_row(query, found.layout, parsed)) break;
      ++parsed.lines;
      more = query.step();
    }
    Chunk chunk;
    chunk.input = input;
    chunk.first = first;
    chunk.last = !more;
    merger.add(std::move(chunk), std::move(parsed));
  }
  return found;
}

}  // namespace

bool is_sqlite(std::string_view sample) {
  return sample.starts_with(std::string_view("SQLite format 3\0", 16));
}

Interactions read_sqlite(const std::vector<LogInput>& inputs, const LogOptions& options,
                         const Execution& execution) {
  if (!options.delimiter.empty() || options.header != Header::automatic)
    fail(ErrorKind::usage, "a database has neither delimiter nor header; leave {} and {} out", "delimiter"_p,
         "header"_p);
  check_layout_options(options);
  check_dislike_below(options);
  const RowRules rules{.keep_above = options.keep_above,
                       .keep_low = options.keep_low && options.keep_above,
                       .skip_bad_lines = options.skip_bad_lines,
                       .dislike_below = options.dislike_below,
                       .times = options.times,
                       .time_unit = options.time_unit};
  Merger merger(inputs, options.format, rules, 0);
  std::optional<TableLayout> first;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    Query query(inputs[k].path.string(), options.query, execution.observer);
    TableLayout found = read_one(k, query, options, rules, merger);
    if (!first)
      first = std::move(found);
    else if (first->layout.value.has_value() != found.layout.value.has_value())
      fail(ErrorKind::input, "of {} and {}, only one has a value column; name the columns to read",
           inputs.front().path.string(), query.file());
  }
  Interactions log = merger.finish();
  log.reading = first->reading;
  log.keep_above = options.keep_above;
  return log;
}

}  // namespace poise::logs
