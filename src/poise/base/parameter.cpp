#include "poise/base/parameter.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/base/suggest.hpp"

namespace poise {

std::string Parameter::python_keyword() const {
  if (!keyword.empty()) return keyword;
  std::string text = id;
  std::ranges::replace(text, '-', '_');
  return text;
}

std::string value_text(const Parameter& parameter, const ParameterPlace& place) {
  if (const auto* const choice = std::get_if<ChoicePlace>(&place)) return parameter.names[choice->get()];
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (std::is_pointer_v<std::decay_t<decltype(value)>>) return fmt::format("{}", *value);
        return {};
      },
      place);
}

void set_value(const Parameter& parameter, const ParameterPlace& place, std::string_view text) {
  const ParameterName name{parameter.id};
  const auto set = [&]<class Place>(const Place& value) {
    if constexpr (std::is_same_v<Place, ChoicePlace>) {
      value.set(place_of(text, name, parameter.names));
    } else if constexpr (std::is_same_v<Place, bool*>) {
      *value = text == "true";
    } else {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
      if (error != std::errc() || end != text.data() + text.size())
        fail(ErrorKind::usage, "{} is \"{}\", which is no {}", name, text,
             std::is_same_v<Place, double*> ? "number" : "whole number in its range");
    }
  };
  std::visit(set, place);
}

int place_of(std::string_view name, ParameterName parameter, const std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  fail(ErrorKind::usage, "{} must be one of {}, not '{}'{}", parameter, fmt::join(names, ", "), name,
       did_you_mean(name, names));
}

}  // namespace poise
