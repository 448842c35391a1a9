#include "option_values.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/base/suggest.hpp"
#include "poise/linalg/user_rows.hpp"

#include "command.hpp"

namespace poise::app {

namespace {

constexpr std::uint64_t least_memory = 64ULL << 20U;

/// A validator from a test on the text and a description of accepted values.
CLI::Validator accept(const std::function<bool(std::string_view)>& passes, const std::string& wanted) {
  return CLI::Validator(
      [passes, wanted](std::string& text) {
        return passes(text) ? std::string() : fmt::format("'{}' is not {}", text, wanted);
      },
      "");
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

CLI::Validator accept_number(const std::function<bool(double)>& passes, const std::string& wanted) {
  return accept(
      [passes](std::string_view text) {
        const std::optional<double> number = parse<double>(text);
        return number && std::isfinite(*number) && passes(*number);
      },
      wanted);
}

constexpr const char* names_check = "names";

/// Checks parts(value) against the names. The description contains the names; the help shows it and
/// choices_of() reads it.
CLI::Validator names_validator(const std::vector<std::string>& names,
                               const std::function<std::vector<std::string>(const std::string&)>& parts) {
  return CLI::Validator(
      [names, parts](std::string& text) -> std::string {
        for (const std::string& part : parts(text)) {
          if (std::ranges::find(names, part) == names.end())
            return fmt::format("there is no '{}'{}; there are {}", part, did_you_mean(part, names),
                               fmt::join(names, ", "));
        }
        return {};
      },
      fmt::format("{{{}}}", fmt::join(names, ",")), names_check);
}

template <class App, class Option>
void append_options(App& parser, std::vector<Option*>& options) {
  const auto own = parser.get_options();
  options.insert(options.end(), own.begin(), own.end());
  for (App* group : parser.get_subcommands({})) append_options(*group, options);
}

}  // namespace

CLI::Validator one_of(const std::vector<std::string>& names) {
  return names_validator(names, [](const std::string& text) { return std::vector{text}; });
}

CLI::Validator list_of(const std::vector<std::string>& names) {
  return names_validator(names, split_at_commas);
}

std::vector<std::string> choices_of(CLI::Option& option) {
  try {
    const std::string listed = option.get_validator(names_check)->get_description();
    return split_at_commas(listed.substr(1, listed.size() - 2));
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

std::vector<CLI::Option*> all_options(CLI::App& parser) {
  std::vector<CLI::Option*> options;
  append_options(parser, options);
  return options;
}

std::vector<const CLI::Option*> all_options(const CLI::App& parser) {
  std::vector<const CLI::Option*> options;
  append_options(parser, options);
  return options;
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const bool bounded = most < std::numeric_limits<std::int64_t>::max();
  return accept(
      [least, most](std::string_view text) {
        const auto number = parse<std::int64_t>(text);
        return number && *number >= least && *number <= most;
      },
      bounded ? fmt::format("a whole number from {} to {}", least, most)
              : fmt::format("a whole number of at least {}", least));
}

CLI::Validator finite_number() {
  return accept_number([](double) { return true; }, "a finite number");
}

CLI::Validator number_or(const std::string& word) {
  return accept(
      [word](std::string_view text) {
        const std::optional<double> number = parse<double>(text);
        return text == word || (number && std::isfinite(*number));
      },
      "a finite number or " + word);
}

CLI::Validator number_between(double low, double high) {
  return accept_number([low, high](double number) { return number > low && number < high; },
                       fmt::format("a number above {} and below {}", low, high));
}

CLI::Validator number_from(double low, double high) {
  return accept_number([low, high](double number) { return number >= low && number <= high; },
                       fmt::format("a number from {} to {}", low, high));
}

CLI::Validator positive_number() {
  return accept_number([](double number) { return number > 0; }, "a number above 0");
}

std::uint64_t parse_size(std::string_view text) {
  constexpr std::array<std::string_view, 5> prefixes = {"", "k", "m", "g", "t"};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<double> number = parse<double>(text.substr(0, digits));
  std::string unit;
  for (const char c : text.substr(digits)) {
    if (c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (unit.ends_with('b')) unit.pop_back();
  if (unit.size() > 1 && unit.ends_with('i')) unit.pop_back();
  const auto* const prefix = std::find(prefixes.begin(), prefixes.end(), unit);
  if (!number || prefix == prefixes.end()) {
    fail(ErrorKind::usage, "'{}' is not a size such as 8G, 1.5G or 500M", text);
  }
  const double bytes = *number * std::pow(1024.0, static_cast<double>(prefix - prefixes.begin()));
  if (!(bytes < 0x1p63)) fail(ErrorKind::usage, "'{}' is more than any machine has", text);
  return static_cast<std::uint64_t>(bytes);
}

CLI::Validator memory_size() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        try {
          const std::uint64_t bytes = parse_size(text);
          if (bytes < least_memory) return fmt::format("'{}' is too little; 64M is the least", text);
          text = std::to_string(bytes);
          return {};
        } catch (const Error& error) {
          return with_names(error.sentence(), flag_name);
        }
      },
      "");
}

void note_without_dislikes(double share, const UserRows& histories, const Context& context) {
  if (share > 0 && histories.disliked.entries() == 0)
    context.say("note: no user has dislikes, so --dislike-share has no effect");
}

void add_dislike_share_option(CLI::App& parser, double& share) {
  parser
      .add_option(
          "--dislike-share", share,
          "What a disliked item of a history counts below 0,\nwhere a liked one counts 1; for full-rank and "
          "awmf")
      ->check(accept_number([](double number) { return number >= 0; }, "a number of at least 0"))
      ->capture_default_str();
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace poise::app
