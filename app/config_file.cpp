#include "config_file.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "poise/base/suggest.hpp"

#include "help.hpp"
#include "option_values.hpp"

namespace poise::app {

namespace {

[[noreturn]] void wrong(const toml::source_region& place, std::string_view what) {
  throw CLI::ConfigError(fmt::format("line {}: {}", place.begin.line, what));
}

toml::table parse(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    wrong(error.source(),
          fmt::format("{}; a line is NAME = VALUE, and text needs quotes around it", error.description()));
  }
}

/// A value as the flag takes it: numbers in the shortest form that reads back to the same.
std::string text_of(const toml::node& node) {
  if (const auto* const text = node.as_string()) return **text;
  if (const auto* const number = node.as_integer()) return fmt::format("{}", **number);
  if (const auto* const number = node.as_floating_point()) return fmt::format("{}", **number);
  if (const auto* const flag = node.as_boolean()) return **flag ? "true" : "false";
  wrong(node.source(), "a value is text, a number, true, false, or a list of these");
}

std::vector<std::string> texts_of(const toml::node& node) {
  const toml::array* const list = node.as_array();
  if (list == nullptr) return {text_of(node)};
  std::vector<std::string> texts;
  for (const toml::node& each : *list) texts.push_back(text_of(each));
  return texts;
}

template <class Number>
bool is_written(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() &&
         std::isfinite(static_cast<double>(number)) && fmt::format("{}", number) == text;
}

/// Whether a name needs no quotes.
bool is_bare(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

std::string quote(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\t') {
      result += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

/// The text after NAME =: a number that reads back to this text, true or false, or text in quotes.
std::string value_text(const std::string& value) {
  if (value == "true" || value == "false" || is_written<std::int64_t>(value)) return value;
  const bool fraction = value.find_first_of(".e") != std::string::npos;
  if (fraction && is_written<double>(value)) return value;
  return quote(value);
}

std::string values_text(const std::vector<std::string>& values) {
  if (values.size() == 1) return value_text(values.front());
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value_text(value);
  return "[" + text + "]";
}

/// The value of an option, or its default; empty if it has neither.
std::string current_text(const CLI::Option& option) {
  if (option.count() > 0) return values_text(option.reduced_results());
  const std::string usual = option.get_default_str();
  if (usual.starts_with('[') && option.get_items_expected_max() > 1)  // a list, as CLI11 writes it
    return values_text(split_at_commas(usual.substr(1, usual.size() - 2)));
  if (!usual.empty()) return value_text(usual);
  return option.get_expected_min() == 0 ? "false" : "";
}

/// Whether the options that an option requires are given: without them even its default would be refused.
bool may_be_set(const CLI::Option& option) {
  return std::ranges::all_of(option.get_needs(), [](const CLI::Option* other) { return other->count() > 0; });
}

/// The names that a config file may set.
std::vector<std::string> settable_names(const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::Option* option : all_options(parser)) {
    if (option->get_configurable()) names.push_back(option->get_single_name());
  }
  return names;
}

/// The option of a line; an error if there is none, or if a file cannot set it.
const CLI::Option& option_of(const CLI::App& parser, const std::string& name,
                             const toml::source_region& place) {
  for (const char* const dashes : {"--", "-", ""}) {
    const CLI::Option* const option = parser.get_option_no_throw(dashes + name);
    if (option != nullptr && option->get_configurable()) return *option;
  }
  wrong(place, fmt::format("there is no option '{}' that a config file can set{}", name,
                           did_you_mean(name, settable_names(parser))));
}

}  // namespace

std::string ConfigFile::to_config(const CLI::App* parser, bool defaults, bool descriptions,
                                  std::string prefix) const {
  std::string text;
  for (const CLI::Option* option : all_options(*parser)) {
    if (!option->get_configurable() || (option->count() == 0 && !(defaults && may_be_set(*option)))) continue;
    const std::string value = current_text(*option);
    if (value.empty()) continue;
    if (descriptions) text += fmt::format("\n# {}\n", whole_description(*option));
    const std::string name = prefix + option->get_single_name();
    text += fmt::format("{} = {}\n", is_bare(name) ? name : quote(name), value);
  }
  return text;
}

std::vector<CLI::ConfigItem> ConfigFile::from_config(std::istream& input) const {
  const std::string whole(std::istreambuf_iterator<char>(input), {});
  const toml::table table = parse(whole);
  // In the order of the file, so that the error names the first mistake.
  std::vector<std::pair<const toml::key*, const toml::node*>> lines;
  for (const auto& [key, node] : table) lines.emplace_back(&key, &node);
  std::ranges::stable_sort(lines, {}, [](const auto& line) { return line.first->source().begin.line; });
  std::vector<CLI::ConfigItem> items;
  for (const auto& [key, node] : lines) {
    CLI::ConfigItem item;
    item.name = key->str();
    const toml::source_region& place = key->source();
    if (node->is_table() || node->is_array_of_tables())
      wrong(place, fmt::format("a config file has no tables; remove '[{}]' and keep its lines NAME = VALUE",
                               item.name));
    const CLI::Option& option = option_of(*parser_, item.name, place);
    lines_.emplace(item.name, static_cast<int>(place.begin.line));
    item.inputs = texts_of(*node);
    if (item.inputs.empty()) wrong(place, fmt::format("the list of '{}' is empty", item.name));
    const bool flag = item.inputs.size() == 1 && (item.inputs[0] == "true" || item.inputs[0] == "false");
    if (option.get_expected_min() == 0 && !flag)
      wrong(place, fmt::format("'{}' is either true or false", item.name));
    if (item.inputs.size() > 1 && option.get_items_expected_max() == 1)
      item.inputs = {fmt::format("{}", fmt::join(item.inputs, ","))};  // as the flag takes it
    items.push_back(std::move(item));
  }
  return items;
}

int ConfigFile::line_of(const std::string& name) const {
  const auto found = lines_.find(name);
  return found == lines_.end() ? 0 : found->second;
}

}  // namespace poise::app
