#include "poise/data/log/json_lines.hpp"

#include <array>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "poise/base/error.hpp"
#include "poise/data/log/for_each_line.hpp"
#include "poise/data/log/layout.hpp"
#include "poise/data/log/text.hpp"
#include "poise/data/numbers.hpp"

namespace poise::logs {

namespace {

using Json = nlohmann::json;

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

/// What a field of an object holds.
enum class Kind { missing, text, number, null, other };

struct Held {
  Kind kind = Kind::missing;
  std::string text;  ///< of a number: as it was written, or its digits
};

/// Receives the events of one line: keeps the fields asked for, and says what is wrong with the line.
class ObjectReader final : public nlohmann::json_sax<Json> {
 public:
  explicit ObjectReader(const JsonFields& fields) : fields_(fields) {}

  /// Empty if the line is an object whose fields can be used.
  std::string read(std::string_view line) {
    held_ = {};
    depth_ = 0;
    at_ = none;
    problem_.clear();
    // The parser keeps a stack of its own: nesting of any depth is safe.
    static_cast<void>(Json::sax_parse(line.begin(), line.end(), this));
    return std::move(problem_);
  }
  [[nodiscard]] const Held& user() const { return held_[0]; }
  [[nodiscard]] const Held& item() const { return held_[1]; }
  [[nodiscard]] const Held& value() const { return held_[2]; }
  [[nodiscard]] const Held& time() const { return held_[3]; }

  bool null() override { return take(Kind::null, {}); }
  bool boolean(bool /*value*/) override { return take(Kind::other, {}); }
  bool number_integer(std::int64_t number) override { return take(Kind::number, fmt::to_string(number)); }
  bool number_unsigned(std::uint64_t number) override { return take(Kind::number, fmt::to_string(number)); }
  bool number_float(double /*value*/, const std::string& written) override {
    return take(Kind::number, written);
  }
  bool string(std::string& text) override { return take(Kind::text, text); }
  bool binary(Json::binary_t& /*bytes*/) override { return false; }
  bool start_object(std::size_t /*count*/) override { return open(); }
  bool start_array(std::size_t /*count*/) override { return depth_ == 0 ? fail_with(no_object) : open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    if (depth_ != 1) return true;
    at_ = name == fields_.user    ? 0
          : name == fields_.item  ? 1
          : fields_.value == name ? 2
          : fields_.time == name  ? 3
                                  : none;
    if (at_ == none || held_[at_].kind == Kind::missing) return true;
    return fail_with(fmt::format("the object has the field {} twice; write it once", shown(name)));
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return fail_with(
        fmt::format("the line is no JSON from byte {} on; write one object on each line", position));
  }

 private:
  static constexpr std::size_t none = 4;
  static constexpr const char* no_object = "the line is no JSON object; write one object on each line";

  bool fail_with(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool take(Kind kind, std::string text) {
    if (depth_ == 0) return fail_with(no_object);
    if (depth_ == 1 && at_ != none) held_[at_] = {kind, std::move(text)};
    return true;
  }
  bool open() {
    if (depth_ == 1 && at_ != none) held_[at_].kind = Kind::other;
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  const JsonFields& fields_;
  std::array<Held, none> held_;
  std::size_t depth_ = 0;
  std::size_t at_ = none;  ///< which of the fields comes next
  std::string problem_;
};

/// What is wrong with an id; empty if it can be used.
std::string id_trouble(const Held& held, const std::string& field, std::string_view what) {
  if (held.kind == Kind::missing) return fmt::format("the object has no field {}", shown(field));
  if (held.kind == Kind::other)
    return fmt::format("the {} id, field {}, is neither a text nor a number", what, shown(field));
  if (held.kind == Kind::number && !is_whole_number(std::string_view(held.text).substr(held.text[0] == '-')))
    return fmt::format("the {} id {} is no whole number; write such an id as a text", what, shown(held.text));
  if (held.text.find('\0') != std::string::npos)
    return fmt::format("the {} id {} holds a NUL character", what, shown(held.text));
  return {};
}

/// What is wrong with a value or, as `what` says, a time.
std::string number_trouble(const Held& held, const std::string& field, std::string_view what) {
  if (held.kind == Kind::missing) return fmt::format("the object has no field {}", shown(field));
  if (held.kind == Kind::null || held.kind == Kind::other)
    return fmt::format("the {}, field {}, is no {}; correct it, name other columns or skip bad lines", what,
                       shown(field), what == "value" ? "number" : "number or text");
  return {};
}

/// The names in the first object of a file, in their order.
std::vector<std::string> first_names(std::string_view sample) {
  while (!sample.empty()) {
    const std::string_view line = sample.substr(0, sample.find('\n'));
    const auto object = nlohmann::ordered_json::parse(line, nullptr, false);
    if (object.is_object() && !object.empty()) {
      std::vector<std::string> names;
      for (const auto& entry : object.items()) names.push_back(entry.key());
      return names;
    }
    sample.remove_prefix(std::min(line.size() + 1, sample.size()));
  }
  return {};
}

std::string listed_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 50;
  std::string list;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k)
    list += (k > 0 ? ", " : "") + shown(names[k]);
  return names.empty() ? "none" : list + (names.size() > most ? ", ..." : "");
}

std::optional<std::string> named_as(const std::vector<std::string>& names, ColumnRole role) {
  const auto found =
      std::ranges::find_if(names, [&](const std::string& name) { return role_of(name) == role; });
  return found == names.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

JsonFields find_fields(std::string_view sample, const LogOptions& options, const std::string& file) {
  const std::size_t first = sample.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && sample[first] == '[')
    fail(ErrorKind::input, "{} is one JSON array; write an object on each line, e.g. with jq -c '.[]'", file);
  JsonFields fields;
  if (!options.columns.empty()) {
    fields.user = options.columns[0];
    fields.item = options.columns[1];
    if (options.columns.size() > 2 && !options.columns[2].empty()) fields.value = options.columns[2];
    if (options.columns.size() > 3) fields.time = options.columns[3];
    const std::set<std::string> names(options.columns.begin(), options.columns.end());
    if (names.size() < options.columns.size())
      fail(ErrorKind::usage, "a column is given twice; user, item, value and time are different columns");
  } else {
    const std::vector<std::string> names = first_names(sample);
    const auto user = named_as(names, ColumnRole::user);
    const auto item = named_as(names, ColumnRole::item);
    if (!user || !item)
      fail(ErrorKind::input,
           "no field of {} is known as {}; name user, item and perhaps value and time with {} (its "
           "first object has {})",
           file, user ? "an item" : "a user", "columns"_p, listed_names(names));
    fields = {.user = *user,
              .item = *item,
              .value = named_as(names, ColumnRole::value),
              .time = named_as(names, ColumnRole::time),
              .reading = {}};
  }
  if (!options.times)
    fields.time.reset();
  else if (options.columns.size() < 4 && !fields.time)
    fields.time = named_as(first_names(sample), ColumnRole::time);
  fields.reading = fmt::format("jsonl, user = {}, item = {}, {}", shown(fields.user), shown(fields.item),
                               fields.value ? fmt::format("value = {}", shown(*fields.value)) : "no value");
  if (fields.time) fields.reading += fmt::format(", time = {}", shown(*fields.time));
  if (options.keep_above) fields.reading += fmt::format(", rows with a value above {}", *options.keep_above);
  return fields;
}

ParsedChunk parse_json_lines(const Chunk& chunk, const RowRules& rules) {
  const JsonFields& fields = *chunk.fields;
  ParsedChunk parsed(rules);
  ObjectReader reader(fields);
  for_each_line(chunk.bytes, parsed, [&](std::string_view line) {
    if (is_blank(line)) return true;
    ++parsed.records;
    if (line.find('\0') != std::string_view::npos) return parsed.reject(std::string(nul_byte));
    std::string problem = reader.read(line);
    if (problem.empty()) problem = id_trouble(reader.user(), fields.user, "user");
    if (problem.empty()) problem = id_trouble(reader.item(), fields.item, "item");
    if (problem.empty() && fields.value) problem = number_trouble(reader.value(), *fields.value, "value");
    if (problem.empty() && fields.time) problem = number_trouble(reader.time(), *fields.time, "time");
    if (!problem.empty()) return parsed.reject(std::move(problem));
    Row row{.user = reader.user().text, .item = reader.item().text, .value = {}, .utf8 = true};
    if (fields.value) row.value = reader.value().text;
    if (fields.time) row.time = reader.time().text;
    return parsed.add(row);
  });
  return parsed;
}

}  // namespace poise::logs
