#pragma once

#include <span>
#include <string>
#include <string_view>

#include "poise/search/search.hpp"

namespace poise {

/// Gives the axis of a parameter these values, and the base of the space the first of them; of alpha, which
/// searches always vary, the base keeps its own. "auto" alone: by profiles, over its usual range.
/// Error{usage} for anything else.
void set_axis(SearchSpace& space, std::string_view id, std::span<const std::string> texts);
/// The same of numbers.
void set_axis(SearchSpace& space, std::string_view id, std::span<const double> values);

}  // namespace poise
