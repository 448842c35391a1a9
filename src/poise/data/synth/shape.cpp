#include "poise/data/synth/shape.hpp"

#include <algorithm>

namespace poise {
namespace {

struct NamedShape {
  std::string_view name;
  synth::Shape shape;
};

// In the order of SynthShape; columns in the order of Shape. Activity: sigma follows from median / mean = 1/2
// of the whole count (minimum included), but for million; the larger the minimum's share of the mean, the
// larger the sigma. Popularity: exponent and offset determine the share of the top tenth and of the first
// item. Heavy users already have the popular items, which flattens the curve, so the weights are steeper than
// the result.
// clang-format off
constexpr NamedShape shapes[] = {
    {"ml-20m",      {   136'677,    20'108,  10'000'000,  5,   3,  0.2, 1.24, 1.8,  80,     0,  20, 12,  0.1,  0.5, 0.5,  0.2}},
    {"netflix",     {   463'435,    17'769,  56'900'000,  5,   3,  0.2, 1.21, 2.2, 175,     0,  20, 12,  0.1,  0.5, 0.5,  0.2}},
    {"msd",         {   571'355,    41'140,  33'600'000, 20, 200,  0.1,  1.5, 1.3, 300, 0.006,  40, 20, 0.05, 0.35, 0.6, 0.25}},
    {"amazon-book", {    52'643,    91'599,   2'984'108, 10,  10, 0.12, 1.36, 1.3, 480, 0.008,  60, 30, 0.05,  0.3, 0.6, 0.25}},
    {"million",     {10'000'000, 1'000'000, 100'000'000,  5,   5, 0.01,  1.5, 1.0, 300,     0, 200, 50, 0.05, 0.35, 0.6, 0.25}},
    {"demo",        {     2'400,       700,     100'000,  5,   5,  0.5,  1.3, 2.7,  70,     0,  20,  4,  0.1,  0.4, 0.5,  0.2}},
};
// clang-format on

}  // namespace

SynthShape parse_synth_shape(std::string_view name) {
  const auto* const found = std::ranges::find(shapes, name, &NamedShape::name);
  if (found == std::end(shapes))
    fail(ErrorKind::usage, "unknown shape '{}': choose ml-20m, netflix, msd, amazon-book, million or demo",
         name);
  return static_cast<SynthShape>(found - shapes);
}

const synth::Shape& synth::shape_of(SynthShape shape) { return shapes[static_cast<int>(shape)].shape; }

}  // namespace poise
