#include "poise/data/log/parsed_chunk.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "poise/base/utf8.hpp"
#include "poise/data/interactions.hpp"
#include "poise/data/log/text.hpp"
#include "poise/data/numbers.hpp"
#include "poise/data/times.hpp"

namespace poise::logs {

namespace {

constexpr std::size_t longest_id = 4096;

std::string value_problem(std::string_view text, bool number) {
  return fmt::format("the value {} is not {}; correct it, name other columns or skip bad lines", shown(text),
                     number ? "finite" : "a number");
}

}  // namespace

bool is_sound_id(std::string_view id) { return id.size() <= longest_id && is_utf8(id); }

std::string id_problem(std::string_view id, std::string_view what) {
  if (id.size() > longest_id) {
    return fmt::format("the {} id is {} bytes long where {} are allowed; check the delimiter and the quotes",
                       what, id.size(), longest_id);
  }
  return fmt::format("the {} id {} is not UTF-8; convert the file", what, shown(id));
}

bool ParsedChunk::reject(std::string problem) {
  if (rules_->skip_bad_lines) {
    ++skipped_lines;
    return true;
  }
  bad = BadLine{lines, std::move(problem)};
  return false;
}

bool ParsedChunk::add(const Row& row) {
  const auto sound = [&](std::string_view id) {
    return row.utf8 ? id.size() <= longest_id : is_sound_id(id);
  };
  if (!sound(row.user)) return reject(id_problem(row.user, "user"));
  if (!sound(row.item)) return reject(id_problem(row.item, "item"));
  double number = 0;
  if (row.value) {
    const std::optional<double> parsed = parse_number(*row.value);
    if (!parsed || !(std::abs(*parsed) <= std::numeric_limits<float>::max())) {
      return reject(value_problem(*row.value, parsed.has_value()));
    }
    number = *parsed;
  }
  std::int64_t at = 0;
  if (row.time) {
    const ParsedTime parsed = parse_time(*row.time, rules_->time_unit);
    if (parsed.problem) return reject(fmt::format("the time {} {}", shown(*row.time), *parsed.problem));
    at = parsed.microseconds;
    auto& line = unit_line[static_cast<std::size_t>(parsed.unit)];
    if (!line) line = lines;
  }
  if (row.user.empty() || (row.item.empty() && !row.inherits_item)) {
    ++empty_ids;
    return true;
  }
  const bool is_disliked = row.value && rules_->dislike_below && number < *rules_->dislike_below;
  const bool is_low = !is_disliked && row.value && rules_->keep_above && !(number > *rules_->keep_above);
  below_threshold += is_low ? 1 : 0;
  disliked_rows += is_disliked ? 1 : 0;
  if (is_low && !rules_->keep_low) return true;
  if (rules_->marks()) low.push_back(is_disliked ? Interactions::disliked : is_low ? 1 : 0);
  user.push_back(users.intern(row.user));
  item.push_back(row.inherits_item ? inherited_item : items.intern(row.item));
  if (row.value) value.push_back(static_cast<float>(number));
  if (row.time) time.push_back(at);
  return true;
}

}  // namespace poise::logs
