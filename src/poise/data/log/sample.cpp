#include "poise/data/log/sample.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "poise/data/log/record.hpp"

namespace poise::logs {

Sample take_sample(std::string_view bytes, bool whole, std::string_view delimiter) {
  constexpr std::size_t most_records = 10;
  constexpr std::size_t most_fields = 10'000;
  Sample sample;
  Record record;
  std::size_t at = 0;
  std::int64_t lines = 0;
  while (at < bytes.size() && sample.records.size() < most_records) {
    const std::string_view rest = bytes.substr(at);
    read_record(rest, delimiter, most_fields, record);
    const bool cut = at + record.size == bytes.size() && !whole;
    if (cut && !sample.records.empty()) break;
    at += record.size;
    lines += record.lines;
    const std::size_t count = std::min(record.count, most_fields);
    if (count == 1 && record.fields[0].empty() && rest.front() != '"') continue;
    if (sample.records.empty()) {
      sample.first_bytes = at;
      sample.first_lines = lines;
    }
    sample.records.emplace_back(record.fields.begin(),
                                record.fields.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return sample;
}

std::string guess_delimiter(std::string_view sample, bool whole) {
  // A blank stands inside many texts, so it is taken only where nothing else delimits.
  constexpr std::array<std::string_view, 5> candidates = {"\t", "::", ",", ";", "|"};
  const auto fewest_and_most = [&](std::string_view delimiter) {
    const Sample taken = take_sample(sample, whole, delimiter);
    std::pair<std::size_t, std::size_t> range = {std::numeric_limits<std::size_t>::max(), 0};
    for (const Fields& fields : taken.records) {
      range = {std::min(range.first, fields.size()), std::max(range.second, fields.size())};
    }
    return range;
  };
  std::string_view steady;
  std::string_view ragged;
  std::size_t steady_fields = 1;
  std::size_t ragged_fields = 1;
  for (const std::string_view candidate : candidates) {
    const auto [fewest, most] = fewest_and_most(candidate);
    if (fewest == most && most > steady_fields) {
      steady = candidate;
      steady_fields = most;
    }
    if (most > ragged_fields) {
      ragged = candidate;
      ragged_fields = most;
    }
  }
  if (!steady.empty()) return std::string(steady);
  if (!ragged.empty()) return std::string(ragged);
  return fewest_and_most(" ").second > 1 ? " " : ",";
}

}  // namespace poise::logs
