#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace poise {

/// A parameter in a sentence of the library, by its id: "raise {}", "lambda"_p. The program writes --lambda
/// there and Python regularization.
struct ParameterName {
  std::string_view id;

  /// What stands around an id in a sentence until a front end renders it.
  static constexpr char begin = '\x02';
  static constexpr char end = '\x03';
};

constexpr ParameterName operator""_p(const char* id, std::size_t size) { return {{id, size}}; }

/// The id that a sentence names first; empty where it names none.
std::string first_name(std::string_view sentence);

/// The sentence with what `name` makes of each id.
std::string with_names(std::string_view sentence, const std::function<std::string(std::string_view)>& name);

/// "--lambda-exponent".
std::string flag_name(std::string_view id);

}  // namespace poise

template <>
struct fmt::formatter<poise::ParameterName> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const poise::ParameterName& name, Context& context) const {
    return fmt::format_to(context.out(), "{}{}{}", poise::ParameterName::begin, name.id,
                          poise::ParameterName::end);
  }
};
