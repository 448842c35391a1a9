#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace poise::logs {

enum class RecordEnd {
  complete,
  open,           ///< the bytes end inside a quoted field
  unclosed,       ///< a quoted field is too long
  after_closing,  ///< text follows a closing quote
};

/// What a message says of a record that ends so; nothing of one that is complete.
std::string_view problem_of(RecordEnd end);

/// One record of delimited text, quoted as in RFC 4180: a quote is special only at the start of a field;
/// inside a quoted field, "" is a quote and delimiters and line ends are text.
struct Record {
  static constexpr std::size_t longest = 16U << 20U;  ///< beyond this an open quote counts as unclosed

  RecordEnd end = RecordEnd::complete;
  std::size_t size = 0;             ///< bytes up to and including the line end that ends it
  std::int64_t lines = 0;           ///< line ends among those bytes
  std::size_t count = 0;            ///< number of fields, of which at most `most` are in `fields`
  std::vector<std::string> fields;  ///< the first `count` are the record's (reused from record to record)
};

/// Reads the record at the front of `bytes` (which is not empty), keeping its first `most` fields. If it is
/// incomplete, `size` and `lines` are those of its first line.
void read_record(std::string_view bytes, std::string_view delimiter, std::size_t most, Record& record);

}  // namespace poise::logs
