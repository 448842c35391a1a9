#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// How many characters must be inserted, removed, replaced or swapped with their neighbour to turn one text
/// into the other, ignoring case; `most` + 1 if more than `most`.
int edit_distance(std::string_view one, std::string_view other, int most);

/// The number of typing errors to expect in a name of this length.
int likely_slips(std::string_view name);

/// The known name that was most likely meant: the first one with the fewest typing errors; empty if none is
/// near.
std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

/// The end of a sentence about an unknown name: " (did you mean 'NAME'?)", or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace poise
