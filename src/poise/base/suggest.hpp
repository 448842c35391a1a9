#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// How many characters have to be inserted, removed, replaced or swapped with their neighbour to make one
/// text of the other, capitals counting as small letters; or `most` + 1, as soon as it is more than `most`.
int edit_distance(std::string_view one, std::string_view other, int most);

/// How many slips are likely in a name of this length.
int likely_slips(std::string_view name);

/// The known name that was most likely meant: the first of those with the fewest slips; empty where none is
/// near.
std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

/// What to add to a sentence about an unknown name: " (did you mean 'NAME'?)", or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace poise
