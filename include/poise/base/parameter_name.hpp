#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace poise {

/// A parameter in a sentence of the library, by its id: "raise {}", "lambda"_p. The program writes --lambda
/// instead, and Python regularization.
struct ParameterName {
  std::string_view id;

  /// The bytes before and after an id in a sentence until a front end replaces them.
  static constexpr char begin = '\x02';
  static constexpr char end = '\x03';
};

constexpr ParameterName operator""_p(const char* id, std::size_t size) { return {{id, size}}; }

/// The first id in a sentence; empty if there is none.
std::string first_name(std::string_view sentence);

/// The sentence with each id replaced by name(id).
std::string with_names(std::string_view sentence, const std::function<std::string(std::string_view)>& name);

/// "--lambda-exponent".
std::string flag_name(std::string_view id);

}  // namespace poise

template <>
struct fmt::formatter<poise::ParameterName> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }  // NOLINT(*-to-static)
  template <class Context>
  auto format(const poise::ParameterName& name, Context& context) const {
    // Not with format_to, which would compile fmt's formatting of every type wherever a sentence names a
    // parameter.
    auto out = context.out();
    *out++ = poise::ParameterName::begin;
    for (const char each : name.id) *out++ = each;
    *out++ = poise::ParameterName::end;
    return out;
  }
};
