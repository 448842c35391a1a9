#pragma once

#include <span>
#include <string>
#include <string_view>

#include "poise/search/search.hpp"

namespace poise {

/// Sets the values of a parameter's axis, and the first of them in the base of the space; for alpha, which
/// searches always vary, the base is unchanged. "auto" alone: searched by profiles over its default range.
/// Error{usage} for anything else.
void set_axis(SearchSpace& space, std::string_view id, std::span<const std::string> texts);
void set_axis(SearchSpace& space, std::string_view id, std::span<const double> values);

}  // namespace poise
