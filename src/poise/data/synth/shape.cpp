#include "poise/data/synth/shape.hpp"

namespace poise {

SynthShape parse_synth_shape(std::string_view name) {
  if (name == "ml-20m") return SynthShape::ml_20m;
  if (name == "netflix") return SynthShape::netflix;
  if (name == "msd") return SynthShape::msd;
  if (name == "amazon-book") return SynthShape::amazon_book;
  if (name == "million") return SynthShape::million;
  if (name == "demo") return SynthShape::demo;
  fail(ErrorKind::usage, "unknown shape '{}': choose ml-20m, netflix, msd, amazon-book, million or demo",
       name);
}

}  // namespace poise

namespace poise::synth {
namespace {

// Activity: sigma follows from median / mean = 1/2 of the whole count (minimum included); the larger the
// minimum's share of the mean, the larger the sigma. Popularity: exponent and offset determine the share of
// the top tenth and of the first item. Heavy users already have the popular items, which flattens the curve,
// so the weights are steeper than the result.
constexpr Shape ml_20m{
    .users = 136'677,
    .items = 20'108,
    .interactions = 10'000'000,
    .activity_sigma = 1.24,
    .popularity_exponent = 1.8,
    .popularity_offset = 80,
};

constexpr Shape netflix{
    .users = 463'435,
    .items = 17'769,
    .interactions = 56'900'000,
    .activity_sigma = 1.21,
    .popularity_exponent = 2.2,
    .popularity_offset = 175,
};

constexpr Shape msd{
    .users = 571'355,
    .items = 41'140,
    .interactions = 33'600'000,
    .min_user_items = 20,
    .min_item_users = 200,
    .max_user_share = 0.1,
    .activity_sigma = 1.5,
    .popularity_exponent = 1.3,
    .popularity_offset = 300,
    .popularity_floor = 0.006,
    .groups = 40,
    .niches_per_group = 20,
    .broad_least = 0.05,
    .broad_most = 0.35,
    .niche_share = 0.6,
    .series_share = 0.25,
};

constexpr Shape amazon_book{
    .users = 52'643,
    .items = 91'599,
    .interactions = 2'984'108,
    .min_user_items = 10,
    .min_item_users = 10,
    .max_user_share = 0.12,
    .activity_sigma = 1.36,
    .popularity_exponent = 1.3,
    .popularity_offset = 480,
    .popularity_floor = 0.008,
    .groups = 60,
    .niches_per_group = 30,
    .broad_least = 0.05,
    .broad_most = 0.3,
    .niche_share = 0.6,
    .series_share = 0.25,
};

constexpr Shape million{
    .users = 10'000'000,
    .items = 1'000'000,
    .interactions = 100'000'000,
    .min_user_items = 5,
    .min_item_users = 5,
    .max_user_share = 0.01,
    .activity_sigma = 1.5,
    .popularity_exponent = 1.0,
    .popularity_offset = 300,
    .popularity_floor = 0,
    .groups = 200,
    .niches_per_group = 50,
    .broad_least = 0.05,
    .broad_most = 0.35,
    .niche_share = 0.6,
    .series_share = 0.25,
};

constexpr Shape demo{
    .users = 2'400,
    .items = 700,
    .interactions = 100'000,
    .min_item_users = 5,
    .max_user_share = 0.5,
    .activity_sigma = 1.3,
    .popularity_exponent = 2.7,
    .popularity_offset = 70,
    .niches_per_group = 4,
    .broad_most = 0.4,
};

}  // namespace

const Shape& shape_of(SynthShape shape) {
  const Shape* const shapes[] = {&ml_20m, &netflix, &msd, &amazon_book, &million, &demo};
  return *shapes[static_cast<int>(shape)];
}

}  // namespace poise::synth
