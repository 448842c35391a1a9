#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "poise/base/parameter_name.hpp"

namespace poise {

/// How a search may vary a parameter.
enum class SearchAxis {
  none,
  listed,  ///< over several values
  free,    ///< over several values, or "auto": over its usual range
};

/// A parameter of a model, declared once, by the weighting or the family that reads it. Flags, config files,
/// JSON, model files, Python's keywords and the axes of a search are made from this declaration.
struct Parameter {
  std::string id;            ///< "lambda-exponent": the flag without --, the key in config and model files
  std::string keyword = {};  ///< in Python; empty: the id with _ for -
  std::string help;
  double least = -std::numeric_limits<double>::infinity();  ///< the least value that a flag accepts; families
                                                            ///< have ranges of their own
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;             ///< whether `least` itself is refused
  std::vector<std::string> names = {};  ///< the names of a choice, in the order of its enumerators
  SearchAxis axis = SearchAxis::none;
  bool of_every_command = false;  ///< the program has this flag for all commands

  [[nodiscard]] std::string python_keyword() const;
};

/// A value that is one of several names, held as its index among them.
struct ChoicePlace {
  std::function<int()> get;
  std::function<void(int)> set;
};

/// A pointer to the value of a parameter.
using ParameterPlace = std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*, ChoicePlace>;

/// A parameter and the member of Options that holds its value.
template <class Options>
struct DeclaredParameter {
  Parameter is;
  std::function<ParameterPlace(Options&)> in;
};

/// The accessor of a member, for a declaration.
template <class Options, class T>
std::function<ParameterPlace(Options&)> in_member(T Options::*member) {
  return [member](Options& options) -> ParameterPlace {
    T& value = options.*member;
    if constexpr (std::is_enum_v<T>) {
      return ChoicePlace{[&value] { return static_cast<int>(value); },
                         [&value](int k) { value = static_cast<T>(k); }};
    } else {
      return &value;
    }
  };
}

/// The value as text, as files hold it and set_value() reads it.
std::string value_text(const Parameter& parameter, const ParameterPlace& place);
/// Error{usage} if the text is no value of this type.
void set_value(const Parameter& parameter, const ParameterPlace& place, std::string_view text);

/// The index of a name among the names of a parameter; Error{usage} if it is none of them.
int place_of(std::string_view name, ParameterName parameter, const std::vector<std::string>& names);

}  // namespace poise
