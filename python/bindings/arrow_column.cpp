#include "arrow_column.hpp"

#include <cstring>

#include <fmt/format.h>

namespace poise::python::arrow {
namespace {

template <class T>
T element(const Column& column, int buffer, std::int64_t position) {
  T value;  // a producer's buffers need not be aligned
  std::memcpy(&value, static_cast<const std::byte*>(column.array->buffers[buffer]) + position * sizeof(T),
              sizeof(T));
  return value;
}

/// Text k of a buffer of texts that follow each other, with offsets of type T.
template <class T>
std::string_view listed_text(const Column& column, std::int64_t position) {
  const auto first = element<T>(column, 1, position);
  const auto last = element<T>(column, 1, position + 1);
  return {static_cast<const char*>(column.array->buffers[2]) + first, static_cast<std::size_t>(last - first)};
}

/// A view of 16 bytes: the length, then up to 12 bytes of text, or 4 of them, a buffer's number and a place
/// in it.
std::string_view viewed_text(const Column& column, std::int64_t position) {
  const auto* const view = static_cast<const char*>(column.array->buffers[1]) + 16 * position;
  std::int32_t part[4];
  std::memcpy(part, view, sizeof part);
  const auto length = static_cast<std::size_t>(part[0]);
  if (length <= 12) return {view + 4, length};
  return {static_cast<const char*>(column.array->buffers[2 + part[2]]) + part[3], length};
}

}  // namespace

bool is_whole(std::string_view format) {
  return format.size() == 1 && std::string_view("cCsSiIlL").find(format[0]) != std::string_view::npos;
}

bool is_text(std::string_view format) { return format == "u" || format == "U" || format == "vu"; }

std::optional<TimeScale> time_scale(std::string_view format) {
  if (format == "tdD") return TimeScale{.times = 86'400'000'000};
  if (format == "tdm" || format.starts_with("tsm:")) return TimeScale{.times = 1'000};
  if (format.starts_with("tss:")) return TimeScale{.times = 1'000'000};
  if (format.starts_with("tsu:")) return TimeScale{};
  if (format.starts_with("tsn:")) return TimeScale{.divided = 1'000};
  return std::nullopt;
}

bool is_null(const Column& column, std::int64_t row) {
  if (column.format() == "n") return true;
  if (column.array->null_count == 0 || column.array->buffers[0] == nullptr) return false;
  const std::int64_t position = column.first + row;
  const auto* const valid = static_cast<const std::uint8_t*>(column.array->buffers[0]);
  return (valid[position / 8] >> (position % 8) & 1) == 0;
}

std::int64_t whole_at(const Column& column, std::int64_t row) {
  const std::int64_t position = column.first + row;
  if (column.format() == "tdD") return element<std::int32_t>(column, 1, position);
  switch (column.format()[0]) {
    case 'c':
      return element<std::int8_t>(column, 1, position);
    case 'C':
      return element<std::uint8_t>(column, 1, position);
    case 's':
      return element<std::int16_t>(column, 1, position);
    case 'S':
      return element<std::uint16_t>(column, 1, position);
    case 'i':
      return element<std::int32_t>(column, 1, position);
    case 'I':
      return element<std::uint32_t>(column, 1, position);
    default:  // 'l', 'L' and times
      return element<std::int64_t>(column, 1, position);
  }
}

double number_at(const Column& column, std::int64_t row) {
  if (column.format() == "f") return element<float>(column, 1, column.first + row);
  if (column.format() == "g") return element<double>(column, 1, column.first + row);
  const std::int64_t whole = whole_at(column, row);
  return column.format() == "L" ? static_cast<double>(static_cast<std::uint64_t>(whole))
                                : static_cast<double>(whole);
}

std::string_view text_at(const Column& column, std::int64_t row) {
  const std::int64_t position = column.first + row;
  if (column.format() == "u") return listed_text<std::int32_t>(column, position);
  if (column.format() == "U") return listed_text<std::int64_t>(column, position);
  return viewed_text(column, position);
}

std::string_view id_at(const Column& column, std::int64_t row, std::string& scratch) {
  if (is_text(column.format())) return text_at(column, row);
  const std::int64_t whole = whole_at(column, row);
  scratch = column.format() == "L" ? fmt::format("{}", static_cast<std::uint64_t>(whole))
                                   : fmt::format("{}", whole);
  return scratch;
}

}  // namespace poise::python::arrow
