#include "poise/data/log/sample.hpp"

#include <algorithm>
#include <map>
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

std::string guess_delimiter(std::string_view bytes, bool whole) {
  // The largest number of records with an equal number of fields above one, and that number.
  const auto agreement = [&](std::string_view delimiter) {
    std::map<std::size_t, std::size_t> records_by_fields;
    for (const Fields& fields : take_sample(bytes, whole, delimiter).records)
      ++records_by_fields[fields.size()];
    std::pair<std::size_t, std::size_t> best = {0, 0};
    for (const auto& [fields, records] : records_by_fields) {
      if (fields > 1) best = std::max(best, {records, fields});
    }
    return best;
  };
  std::string_view found;
  std::pair<std::size_t, std::size_t> best = {0, 0};
  for (const std::string_view candidate : {"\t", "::", ",", ";", "|"}) {
    if (agreement(candidate) > best) {
      best = agreement(candidate);
      found = candidate;
    }
  }
  if (!found.empty()) return std::string(found);
  // Many texts contain blanks, so a blank counts as the delimiter only if nothing else does.
  return agreement(" ").first > 0 ? " " : ",";
}

}  // namespace poise::logs
