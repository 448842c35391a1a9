#include "option_values.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "poise/base/error.hpp"

namespace poise::app {

namespace {

constexpr std::uint64_t least_memory = 64ULL << 20U;

/// A validator from a test on the text and a description of what passes it.
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

}  // namespace

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

CLI::Validator number_between(double least, double most) {
  return accept_number([least, most](double number) { return number >= least && number <= most; },
                       fmt::format("a number from {} to {}", least, most));
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
          return error.what();
        }
      },
      "");
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
