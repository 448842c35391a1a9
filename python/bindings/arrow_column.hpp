#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arrow.hpp"

namespace poise::python::arrow {

/// The part of a column that one batch holds: rows `first` to `first` + the batch's length of its buffers.
struct Column {
  const Schema* schema;
  const Array* array;
  std::int64_t first;
  std::string name;

  [[nodiscard]] std::string_view format() const { return schema->format; }
  [[nodiscard]] bool is_dictionary() const { return schema->dictionary != nullptr; }
  /// The values that a dictionary column's rows point to.
  [[nodiscard]] Column dictionary() const {
    return {schema->dictionary, array->dictionary, array->dictionary->offset, name};
  }
};

/// Whether a format is one of whole numbers, or of texts.
bool is_whole(std::string_view format);
bool is_text(std::string_view format);
/// Whether a format is one of timestamps or dates, which are whole numbers; their unit in microseconds as a
/// fraction of whole numbers.
struct TimeScale {
  std::int64_t times = 1;
  std::int64_t divided = 1;
};
std::optional<TimeScale> time_scale(std::string_view format);

bool is_null(const Column& column, std::int64_t row);
/// The element of a column of whole numbers, as the 64 bits of its signed or unsigned value.
std::int64_t whole_at(const Column& column, std::int64_t row);
/// The element of a column of numbers.
double number_at(const Column& column, std::int64_t row);
/// The element of a column of texts, in the batch's memory.
std::string_view text_at(const Column& column, std::int64_t row);
/// The id of a row that is not null: its text, or the decimal text of a whole number, in `scratch` if need
/// be.
std::string_view id_at(const Column& column, std::int64_t row, std::string& scratch);

}  // namespace poise::python::arrow
