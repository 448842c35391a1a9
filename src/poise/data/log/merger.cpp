#include "poise/data/log/merger.hpp"

#include <algorithm>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/data/log/delimited.hpp"
#include "poise/data/log/json_lines.hpp"
#include "poise/data/log/line_formats.hpp"
#include "poise/data/times.hpp"

namespace poise::logs {

namespace {

std::vector<std::int32_t> intern_all(const Ids& ids, IdMap& into) {
  std::vector<std::int32_t> numbers(ids.size());
  for (std::int64_t k = 0; k < ids.size(); ++k) numbers[k] = into.intern(ids[k]);
  return numbers;
}

}  // namespace

ParsedChunk parse_chunk(const Chunk& chunk, LogFormat format, const RowRules& rules) {
  static const std::optional<std::string> no_movie;
  switch (format) {
    case LogFormat::netflix:
      return parse_netflix(chunk, rules, chunk.first ? &no_movie : nullptr);
    case LogFormat::adjacency:
      return parse_adjacency(chunk, rules);
    case LogFormat::json_lines:
      return parse_json_lines(chunk, rules);
    default:
      return parse_delimited(chunk, rules);
  }
}

void Merger::add(Chunk chunk, ParsedChunk parsed) {
  if (chunk.first) {
    line_ = chunk.first_line;
    records_ = 0;
    movie_.reset();
  }
  stored_bytes_done_ += chunk.stored_bytes;
  parse_again_if_needed(chunk, parsed);

  const std::string name = name_of(inputs_[chunk.input]);
  check_unit(parsed, name);
  if (parsed.bad)
    fail(ErrorKind::input, "{}{}{}: {}", name, row_mark(), line_ + parsed.bad->line, parsed.bad->problem);
  append_rows(parsed);
  line_ += parsed.lines;
  records_ += parsed.records;
  if (parsed.movie) movie_ = std::move(*parsed.movie);
  if (parsed.open_at) open_record_ = chunk.bytes.substr(*parsed.open_at);
  if (chunk.last && records_ == 0) fail_without_rows(name);
}

void Merger::parse_again_if_needed(Chunk& chunk, ParsedChunk& parsed) {
  if (!open_record_.empty()) {
    chunk.bytes.insert(0, open_record_);
    open_record_.clear();
    parsed = parse_chunk(chunk, format_, rules_);
  } else if (format_ == LogFormat::netflix && !chunk.first && (!movie_ || movie_->empty())) {
    parsed = parse_netflix(chunk, rules_, &movie_);
  }
}

/// Numbers of two units in one log would be read in the wrong order.
void Merger::check_unit(const ParsedChunk& parsed, const std::string& name) {
  const auto earlier = [&](std::size_t a, std::size_t b) {
    return parsed.unit_line[a] && (!parsed.unit_line[b] || *parsed.unit_line[a] < *parsed.unit_line[b]);
  };
  std::vector<std::size_t> units = {1, 2, 3, 4};  // without `automatic`, which shows none
  std::ranges::sort(units, earlier);
  for (const std::size_t k : units) {
    if (!parsed.unit_line[k]) return;
    const auto unit = static_cast<TimeUnit>(k);
    if (unit_ == TimeUnit::automatic) unit_ = unit;
    if (unit != unit_)
      fail(ErrorKind::input,
           "{}{}{}: the time counts {} by its size, and those before it {}; say with {} which it is", name,
           row_mark(), line_ + *parsed.unit_line[k], time_unit_name(unit), time_unit_name(unit_),
           "time-unit"_p);
  }
}

void Merger::append_rows(const ParsedChunk& parsed) {
  result_.empty_ids += parsed.empty_ids;
  result_.below_threshold += parsed.below_threshold;
  result_.disliked_rows += parsed.disliked_rows;
  result_.skipped_lines += parsed.skipped_lines;
  if (parsed.user.empty()) return;

  make_room(parsed);
  const bool inherits = parsed.item.front() == ParsedChunk::inherited_item;
  const std::int32_t inherited = inherits ? items_.intern(*movie_) : 0;
  const std::vector<std::int32_t> users = intern_all(parsed.users.ids(), users_);
  const std::vector<std::int32_t> items = intern_all(parsed.items.ids(), items_);
  for (const std::int32_t user : parsed.user) result_.user.push_back(users[user]);
  for (const std::int32_t item : parsed.item) {
    result_.item.push_back(item == ParsedChunk::inherited_item ? inherited : items[item]);
  }
  result_.value.insert(result_.value.end(), parsed.value.begin(), parsed.value.end());
  result_.low.insert(result_.low.end(), parsed.low.begin(), parsed.low.end());
  result_.time.insert(result_.time.end(), parsed.time.begin(), parsed.time.end());
}

/// Reserves memory for the rows that the whole log will have at the present rate, so that the largest vectors
/// are rarely copied; unused pages cost nothing.
void Merger::make_room(const ParsedChunk& parsed) {
  const std::size_t needed = result_.user.size() + parsed.user.size();
  if (needed <= result_.user.capacity()) return;
  const double left = stored_bytes_done_ == 0
                          ? 1
                          : static_cast<double>(stored_bytes_) / static_cast<double>(stored_bytes_done_);
  const double factor = std::clamp(1.02 * left, 1.25, 64.0);
  const auto room = static_cast<std::size_t>(static_cast<double>(needed) * factor);
  result_.user.reserve(room);
  result_.item.reserve(room);
  if (!parsed.value.empty()) result_.value.reserve(room);
  if (!parsed.time.empty()) result_.time.reserve(room);
}

Interactions Merger::finish() {
  result_.users = users_.take();
  result_.items = items_.take();
  return std::move(result_);
}

}  // namespace poise::logs
