#include "poise/data/log/record.hpp"

#include <algorithm>

namespace poise::logs {

namespace {

/// Moves `at` from behind an opening quote to behind the closing one; false if there is none.
bool read_quoted(std::string_view bytes, std::size_t& at, std::string& text) {
  text.clear();
  while (true) {
    const std::size_t quote = bytes.find('"', at);
    if (quote == std::string_view::npos) return false;
    text.append(bytes, at, quote - at);
    at = quote + 1;
    if (at == bytes.size() || bytes[at] != '"') return true;
    text += '"';
    ++at;
  }
}

/// Whether the line ends at `at`; if so, moves `at` behind its end.
bool take_line_end(std::string_view bytes, std::size_t& at) {
  if (at == bytes.size()) return true;
  std::size_t end = at;
  if (bytes[end] == '\r') ++end;
  if (end == bytes.size()) {
    at = end;
    return true;
  }
  if (bytes[end] != '\n') return false;
  at = end + 1;
  return true;
}

RecordEnd read_fields(std::string_view bytes, std::string_view delimiter, std::size_t most, Record& record) {
  const std::string_view within = bytes.substr(0, Record::longest);
  std::string discarded;
  std::size_t at = 0;
  std::size_t line_end = std::min(bytes.find('\n'), bytes.size());
  record.count = 0;
  while (true) {
    if (record.count < most && record.count == record.fields.size()) record.fields.emplace_back();
    std::string& text = record.count < most ? record.fields[record.count] : discarded;
    ++record.count;
    bool more = false;
    if (at < bytes.size() && bytes[at] == '"') {
      ++at;
      if (at > within.size() || !read_quoted(within, at, text)) {
        return within.size() < bytes.size() ? RecordEnd::unclosed : RecordEnd::open;
      }
      more = bytes.substr(at).starts_with(delimiter);
      if (!more && !take_line_end(bytes, at)) return RecordEnd::after_closing;
    } else {
      if (line_end < at) line_end = std::min(bytes.find('\n', at), bytes.size());
      const std::size_t end = bytes.substr(at, line_end - at).find(delimiter);
      more = end != std::string_view::npos;
      if (more) {
        text.assign(bytes, at, end);
        at += end;
      } else {
        text.assign(bytes, at, line_end - at);
        if (text.ends_with('\r')) text.pop_back();
        at = std::min(line_end + 1, bytes.size());
      }
    }
    if (!more) {
      record.size = at;
      return RecordEnd::complete;
    }
    at += delimiter.size();
  }
}

}  // namespace

std::string_view problem_of(RecordEnd end) {
  switch (end) {
    case RecordEnd::complete:
      return {};
    case RecordEnd::after_closing:
      return "text follows a closing quote; double the quotes inside a quoted field";
    default:
      return "a quoted field is never closed; close it, or double the quote if it is text";
  }
}

void read_record(std::string_view bytes, std::string_view delimiter, std::size_t most, Record& record) {
  record.end = read_fields(bytes, delimiter, most, record);
  if (record.end != RecordEnd::complete) record.size = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
  record.lines = std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(record.size), '\n');
}

}  // namespace poise::logs
