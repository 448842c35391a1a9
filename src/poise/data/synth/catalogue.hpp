#pragma once

#include <cstdint>
#include <vector>

#include "poise/data/synth/alias_table.hpp"
#include "poise/data/synth/shape.hpp"

namespace poise::synth {

/// The items: their popularity, group and niche, and the tables from which users draw. A niche is numbered
/// group * niches_per_group + k. Tables are weighted by popularity.
struct Catalogue {
  std::vector<std::int32_t> group;   ///< per item, the group it mostly belongs to
  std::vector<std::int32_t> niche;   ///< per item
  std::vector<std::int32_t> sequel;  ///< per item, the next of its series (cyclic); itself when alone

  AliasTable all;                     ///< every item
  std::vector<AliasTable> in_group;   ///< per group, its items and, with less weight, its guests
  std::vector<AliasTable> in_niche;   ///< per niche, its items
  AliasTable groups;                  ///< a group
  std::vector<AliasTable> niches_of;  ///< per group, a niche
};

/// O(items).
Catalogue make_catalogue(const Shape& shape, std::uint64_t seed);

}  // namespace poise::synth
