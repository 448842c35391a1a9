#pragma once

#include <cstdint>

#include "poise/data/synth.hpp"

namespace poise::synth {

/// The constants behind a shape. Sizes are those of the data set it resembles; the others were fitted once
/// so that the generated popularity and activity curves have the statistics stated in synth.hpp.
struct Shape {
  std::int64_t users;
  std::int64_t items;
  std::int64_t interactions;
  std::int64_t min_user_items;
  std::int64_t min_item_users;  ///< at scale 1

  double max_user_share;  ///< no user has more than this share of the catalogue
  double activity_sigma;  ///< items above the minimum are lognormal with this sigma

  /// Popularity before taste: weight of rank r (from 0) is (r + offset)^-exponent + floor * offset^-exponent.
  double popularity_exponent;
  double popularity_offset;
  double popularity_floor;

  std::int32_t groups;
  std::int32_t niches_per_group;
  double broad_least;  ///< a user's share of draws that follow popularity alone lies between these two
  double broad_most;
  double niche_share;   ///< of the draws within a favoured group, those from a favoured niche
  double series_share;  ///< chance that an item brings the next one of its series along
};

const Shape& shape_of(SynthShape shape);

}  // namespace poise::synth
