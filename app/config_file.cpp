#include "config_file.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "poise/base/byte_order_mark.hpp"
#include "poise/base/suggest.hpp"

#include "option_values.hpp"

namespace poise::app {

namespace {

bool is_bare(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

/// A number in TOML's spelling, underscores between digits included.
std::optional<std::string> number_text(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  const std::size_t sign = digits.starts_with('+') ? 1 : 0;
  double value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data() + sign, last, value);
  if (error == std::errc::invalid_argument || end != last) return std::nullopt;
  return digits;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80U | ((code >> shift) & 0x3fU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Reads the text of a config file from front to back.
class Reader {
 public:
  explicit Reader(std::string text) : text_(std::move(text)) {}

  /// At the next NAME = VALUE, past blank lines and comments; false at the end.
  bool next() {
    skip_space(true);
    return at_ < text_.size();
  }
  [[nodiscard]] int line() const { return line_; }

  std::string name() {
    if (peek() == '[') {
      const std::string_view rest = std::string_view(text_).substr(at_);
      wrong(fmt::format("the table '{}' means nothing here; write the lines NAME = VALUE without it",
                        rest.substr(0, rest.find_first_of("\r\n"))));
    }
    std::string name;
    if (peek() == '"' || peek() == '\'') {
      name = quoted();
    } else {
      const std::size_t first = at_;
      while (at_ < text_.size() && is_bare(std::string_view(text_).substr(at_, 1))) ++at_;
      name = text_.substr(first, at_ - first);
    }
    skip_space(false);
    if (name.empty() || peek() != '=') wrong("this is not a line NAME = VALUE");
    ++at_;
    skip_space(false);
    return name;
  }

  std::vector<std::string> values() {
    std::vector<std::string> result;
    if (peek() != '[') {
      result.push_back(value());
    } else {
      ++at_;
      for (skip_space(true); peek() != ']'; skip_space(true)) {
        result.push_back(value());
        skip_space(true);
        if (peek() == ',') {
          ++at_;
        } else if (peek() != ']') {
          wrong("a list needs commas between its values and a ] at its end");
        }
      }
      ++at_;
    }
    skip_space(false);
    if (peek() == '#') skip_comment();
    if (at_ < text_.size() && peek() != '\n')
      wrong("something follows the value; text needs quotes around it");
    return result;
  }

  [[noreturn]] void wrong(const std::string& what) const {
    throw CLI::ConfigError(fmt::format("line {}: {}", line_, what));
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  /// Past blanks; with `lines` past line ends and comments too.
  void skip_space(bool lines) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (lines && c == '\n') {
        ++at_;
        ++line_;
      } else if (lines && c == '#') {
        skip_comment();
      } else {
        return;
      }
    }
  }

  std::string value() {
    if (peek() == '"' || peek() == '\'') return quoted();
    const std::size_t first = at_;
    while (at_ < text_.size() && std::string_view(" \t\r\n,]#").find(text_[at_]) == std::string_view::npos)
      ++at_;
    std::string word = text_.substr(first, at_ - first);
    if (word == "true" || word == "false") return word;
    const std::optional<std::string> number = number_text(word);
    if (!number) {
      wrong(
          word.empty()
              ? std::string("the value is missing")
              : fmt::format("'{}' is neither a number nor true or false; text needs quotes around it", word));
    }
    return *number;
  }

  std::string quoted() {
    const char quote = text_[at_++];
    std::string result;
    for (; peek() != quote; ++at_) {
      if (at_ >= text_.size() || peek() == '\n') wrong("a quote is not closed");
      if (peek() == '\\' && quote == '"') {
        ++at_;
        escaped(result);
      } else {
        result += peek();
      }
    }
    ++at_;
    return result;
  }

  /// The character after a backslash; leaves the reader on its last letter.
  void escaped(std::string& result) {
    constexpr std::string_view letters = "btnfr\"\\";
    constexpr std::string_view meanings = "\b\t\n\f\r\"\\";
    const std::size_t found = letters.find(peek());
    if (at_ < text_.size() && found != std::string_view::npos) {
      result += meanings[found];
      return;
    }
    const std::size_t digits = peek() == 'u' ? 4 : peek() == 'U' ? 8 : 0;
    const std::string hex = digits > 0 ? text_.substr(at_ + 1, digits) : std::string();
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (digits == 0 || hex.size() != digits || error != std::errc() || end != hex.data() + digits ||
        code > 0x10ffff || surrogate) {
      wrong("a backslash in \"\" needs one of b t n f r u U \" \\ after it; in '' it stands for itself");
    }
    append_utf8(result, code);
    at_ += digits;
  }

  std::string text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

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

std::string value_text(const std::string& value) {
  const bool number = number_text(value) == value && value.find_first_of("0123456789") <= 1 &&
                      !(value.size() > 1 && value[0] == '0' && value[1] != '.');
  return number || value == "true" || value == "false" ? value : quote(value);
}

std::string values_text(const std::vector<std::string>& values) {
  if (values.size() == 1) return value_text(values.front());
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value_text(value);
  return "[" + text + "]";
}

/// What an option is set to, or its default; empty when it has neither.
std::string current_text(const CLI::Option& option) {
  if (option.count() > 0) return values_text(option.reduced_results());
  const std::string usual = option.get_default_str();
  if (usual.starts_with('[') && option.get_items_expected_max() > 1)  // a list, as CLI11 writes it
    return values_text(split_at_commas(usual.substr(1, usual.size() - 2)));
  if (!usual.empty()) return value_text(usual);
  return option.get_expected_min() == 0 ? "false" : "";
}

/// Whether the options are there that an option goes with: without them even its default would be refused.
bool may_be_set(const CLI::Option& option) {
  return std::ranges::all_of(option.get_needs(), [](const CLI::Option* other) { return other->count() > 0; });
}

/// What a config file may set, by the names it uses.
std::vector<std::string> settable_names(const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::Option* option : all_options(parser)) {
    if (option->get_configurable()) names.push_back(option->get_single_name());
  }
  return names;
}

}  // namespace

std::string ConfigFile::to_config(const CLI::App* parser, bool defaults, bool descriptions,
                                  std::string prefix) const {
  std::string text;
  for (const CLI::Option* option : all_options(*parser)) {
    if (!option->get_configurable() || (option->count() == 0 && !(defaults && may_be_set(*option)))) continue;
    const std::string value = current_text(*option);
    if (value.empty()) continue;
    const std::string name = prefix + option->get_single_name();
    if (descriptions) text += fmt::format("\n# {}\n", option->get_description());
    text += fmt::format("{} = {}\n", is_bare(name) ? name : quote(name), value);
  }
  return text;
}

std::vector<CLI::ConfigItem> ConfigFile::from_config(std::istream& input) const {
  std::string whole(std::istreambuf_iterator<char>(input), {});
  if (whole.starts_with(byte_order_mark)) whole.erase(0, byte_order_mark.size());
  Reader reader(std::move(whole));
  std::vector<CLI::ConfigItem> items;
  while (reader.next()) {
    CLI::ConfigItem item;
    const int line = reader.line();
    item.name = reader.name();
    const CLI::Option* option = parser_->get_option_no_throw("--" + item.name);
    if (option == nullptr) option = parser_->get_option_no_throw("-" + item.name);
    if (option == nullptr) option = parser_->get_option_no_throw(item.name);
    if (option == nullptr || !option->get_configurable()) {
      reader.wrong(fmt::format("there is no option '{}' that a config file can set{}", item.name,
                               did_you_mean(item.name, settable_names(*parser_))));
    }
    if (!lines_.emplace(item.name, line).second) {
      reader.wrong(fmt::format("'{}' is set a second time", item.name));
    }
    item.inputs = reader.values();
    if (option->get_expected_min() == 0 &&
        (item.inputs.size() != 1 || (item.inputs[0] != "true" && item.inputs[0] != "false"))) {
      reader.wrong(fmt::format("'{}' is either true or false", item.name));
    }
    if (item.inputs.empty()) reader.wrong(fmt::format("the list of '{}' is empty", item.name));
    if (item.inputs.size() > 1 && option->get_items_expected_max() == 1) {
      item.inputs = {fmt::format("{}", fmt::join(item.inputs, ","))};  // as the flag takes it
    }
    items.push_back(std::move(item));
  }
  return items;
}

int ConfigFile::line_of(const std::string& name) const {
  const auto found = lines_.find(name);
  return found == lines_.end() ? 0 : found->second;
}

}  // namespace poise::app
