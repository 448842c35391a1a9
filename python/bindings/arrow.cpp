#include "arrow.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/data/dislikes.hpp"

#include "arrays.hpp"
#include "arrow_column.hpp"
#include "parsed_times.hpp"
#include "parts.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

using arrow::Column;

/// Numbers ids by first appearance.
class Numbering {
 public:
  std::int32_t number_of(std::string_view id) {
    const auto [place, added] = numbers_.try_emplace(std::string(id), static_cast<std::int32_t>(ids_.size()));
    if (added) {
      if (ids_.size() >= max_count) fail(ErrorKind::resources, "more than {} ids", max_count);
      ids_.push_back(id);
    }
    return place->second;
  }
  Ids take() { return std::move(ids_); }

 private:
  Ids ids_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

[[noreturn]] void refuse_null(const Column& column, std::int64_t row) {
  fail(ErrorKind::input, "the column '{}' has a null in row {}; leave such rows out first", column.name,
       row + 1);
}

/// Appends the number of each row's id. `before`: the rows of earlier batches.
void append_ids(const Column& column, std::int64_t rows, std::int64_t before, Numbering& numbering,
                std::vector<std::int32_t>& numbers) {
  std::string scratch;
  std::vector<std::int32_t> known;  // of a dictionary's values; -1: not used so far
  std::optional<Column> values;
  if (column.is_dictionary()) {
    values = column.dictionary();
    known.assign(values->array->length, -1);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    if (is_null(column, row)) refuse_null(column, before + row);
    if (!values) {
      numbers.push_back(numbering.number_of(id_at(column, row, scratch)));
      continue;
    }
    const std::int64_t entry = whole_at(column, row);
    if (entry < 0 || entry >= static_cast<std::int64_t>(known.size()))
      fail(ErrorKind::input, "the column '{}' points outside its dictionary in row {}", column.name,
           before + row + 1);
    if (is_null(*values, entry)) refuse_null(column, before + row);
    if (known[entry] < 0) known[entry] = numbering.number_of(id_at(*values, entry, scratch));
    numbers.push_back(known[entry]);
  }
}

void append_values(const Column& column, std::int64_t rows, std::int64_t before, std::vector<float>& values) {
  for (std::int64_t row = 0; row < rows; ++row) {
    if (is_null(column, row)) refuse_null(column, before + row);
    const auto value = static_cast<float>(number_at(column, row));
    if (!std::isfinite(value))
      fail(ErrorKind::input,
           "the column '{}' holds NaN, an infinite value or one beyond float32 in row {}; remove such rows "
           "first",
           column.name, before + row + 1);
    values.push_back(value);
  }
}

/// Microseconds: of timestamps and dates their own, of numbers and texts by the rules of logs.
void append_times(const Column& column, std::int64_t rows, std::int64_t before, ParsedTimes& parsed,
                  std::vector<std::int64_t>& times) {
  const std::optional<arrow::TimeScale> scale = arrow::time_scale(column.format());
  std::string scratch;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (is_null(column, row)) refuse_null(column, before + row);
    if (!scale) {
      const bool number = column.format() == "f" || column.format() == "g";
      if (number) scratch = fmt::format("{}", number_at(column, row));
      times.push_back(parsed.parse(number ? scratch : id_at(column, row, scratch), before + row));
      continue;
    }
    const std::int64_t count = whole_at(column, row);
    if (std::abs(static_cast<double>(count) * static_cast<double>(scale->times)) > 9e18)
      fail(ErrorKind::input, "the column '{}' has a time out of range in row {}", column.name,
           before + row + 1);
    const std::int64_t rest = count % scale->divided;  // times before 1970 are cut towards the past too
    times.push_back((count - (rest < 0 ? rest + scale->divided : rest)) / scale->divided * scale->times);
  }
}

void check_times(const arrow::Schema& column, const std::string& name) {
  const std::string_view format = column.format;
  if (column.dictionary != nullptr || (!arrow::is_whole(format) && !arrow::is_text(format) && format != "f" &&
                                       format != "g" && format != "n" && !arrow::time_scale(format)))
    fail(ErrorKind::input,
         "the column '{}' has the Arrow type '{}': times are timestamps, dates, numbers or texts", name,
         format);
}

/// The number of the column with this name.
std::int64_t find_column(const arrow::Schema& table, const std::string& name) {
  std::string names;
  for (std::int64_t k = 0; k < table.n_children; ++k) {
    const char* const each = table.children[k]->name;
    if (each != nullptr && name == each) return k;
    names += fmt::format("{}'{}'", k == 0 ? "" : ", ", each == nullptr ? "" : each);
  }
  fail(ErrorKind::usage, "the table has no column '{}'; it has {}", name, names);
}

void check_ids(const arrow::Schema& column, const std::string& name) {
  const arrow::Schema& values = column.dictionary == nullptr ? column : *column.dictionary;
  const std::string_view format = values.format;
  const bool indexed = column.dictionary == nullptr || arrow::is_whole(column.format);
  if (!indexed || values.dictionary != nullptr ||
      (!arrow::is_whole(format) && !arrow::is_text(format) && format != "n"))
    fail(ErrorKind::input, "the column '{}' has the Arrow type '{}': ids are whole numbers or texts", name,
         format);
}

void check_values(const arrow::Schema& column, const std::string& name) {
  const std::string_view format = column.format;
  if (column.dictionary != nullptr ||
      (!arrow::is_whole(format) && format != "f" && format != "g" && format != "n"))
    fail(ErrorKind::input, "the column '{}' has the Arrow type '{}': values are numbers", name, format);
}

/// Whether the ids are whole numbers; None for uint64, whose numbers int64 may not hold.
py::object are_numbers(const arrow::Schema& column) {
  const std::string_view format = (column.dictionary == nullptr ? column : *column.dictionary).format;
  if (format == "L") return py::none();
  return py::bool_(arrow::is_whole(format));
}

void expect_success(int code, arrow::Stream& stream, const char* what) {
  if (code == 0) return;
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  const char* const said = stream.get_last_error(&stream);
  fail(ErrorKind::input, "the table's {} could not be read: {}", what,
       said != nullptr ? said : std::strerror(code));
}

/// Reads a table: a log, and whether its users and items are numbers. The stream is moved out of its capsule,
/// so that its release is called here alone.
py::tuple log_from_stream(const py::capsule& capsule, const std::string& user, const std::string& item,
                          const std::optional<std::string>& value, std::optional<double> dislike_below,
                          const std::optional<std::string>& time, const std::string& time_unit) {
  auto* const given = static_cast<arrow::Stream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (given == nullptr) throw py::error_already_set();
  if (given->release == nullptr) fail(ErrorKind::input, "the table's stream was read before");
  arrow::Held<arrow::Stream> stream;
  stream.value = *given;
  given->release = nullptr;

  arrow::Held<arrow::Schema> schema;
  expect_success(stream.value.get_schema(&stream.value, &schema.value), stream.value, "schema");
  const arrow::Schema& table = schema.value;
  if (std::string_view(table.format) != "+s") fail(ErrorKind::input, "a stream of columns is not a table");
  const std::int64_t user_column = find_column(table, user);
  const std::int64_t item_column = find_column(table, item);
  const std::int64_t value_column = value ? find_column(table, *value) : -1;
  check_ids(*table.children[user_column], user);
  check_ids(*table.children[item_column], item);
  const std::int64_t time_column = time ? find_column(table, *time) : -1;
  if (value) check_values(*table.children[value_column], *value);
  if (time) check_times(*table.children[time_column], *time);

  Interactions log;
  Numbering users;
  Numbering items;
  ParsedTimes times(time_unit);
  for (;;) {
    arrow::Held<arrow::Array> batch;
    expect_success(stream.value.get_next(&stream.value, &batch.value), stream.value, "rows");
    if (batch.value.release == nullptr) break;
    const auto column = [&](std::int64_t k, const std::string& name) {
      const arrow::Array& array = *batch.value.children[k];
      return Column{table.children[k], &array, batch.value.offset + array.offset, name};
    };
    const std::int64_t before = log.rows();
    append_ids(column(user_column, user), batch.value.length, before, users, log.user);
    append_ids(column(item_column, item), batch.value.length, before, items, log.item);
    if (value) append_values(column(value_column, *value), batch.value.length, before, log.value);
    if (time) append_times(column(time_column, *time), batch.value.length, before, times, log.time);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  if (log.rows() == 0) fail(ErrorKind::input, "the table has no rows");
  log.users = users.take();
  log.items = items.take();
  log.reading = "arrow";
  if (dislike_below) mark_dislikes(log, *dislike_below);
  return py::make_tuple(std::make_shared<Interactions>(std::move(log)),
                        are_numbers(*table.children[user_column]), are_numbers(*table.children[item_column]));
}

}  // namespace

void bind_arrow(py::module_& module) { module.def("log_from_stream", &log_from_stream); }

}  // namespace poise::python
