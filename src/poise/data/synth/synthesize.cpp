#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "poise/data/synth.hpp"
#include "poise/data/synth/repair.hpp"
#include "poise/data/synth/user.hpp"

namespace poise {
namespace {

using namespace synth;

/// How often a user with this affinity for an item returned to it.
float draw_count(double affinity, CounterRng rng) {
  constexpr double tail = 1.8;        // Pareto exponent: the mean is finite, the variance is not
  constexpr double per_liking = 2.0;  // an affinity of 1 triples the count
  constexpr double most = 10'000;
  return static_cast<float>(
      std::floor(std::min(most, (1.0 + per_liking * affinity) * std::pow(rng.positive(), -1.0 / tail))));
}

void fill_values(Csr& matrix, const Shape& shape, const Catalogue& catalogue, std::uint64_t seed,
                 std::int64_t user) {
  const Taste taste = make_taste(shape, catalogue, seed, user);
  for (std::int64_t k = matrix.offsets[user]; k < matrix.offsets[user + 1]; ++k) {
    const std::int32_t item = matrix.indices[k];
    matrix.values[k] = draw_count(taste.affinity(catalogue, item),
                                  CounterRng(seed, Purpose::counts, user * matrix.cols + item));
  }
}

}  // namespace

SynthSize synth_size(const SynthOptions& options) {
  const Shape& shape = shape_of(options.shape);
  const double users = std::round(options.scale * static_cast<double>(shape.users));
  if (!(users >= 1.0 && users <= std::numeric_limits<std::int32_t>::max())) {
    fail(ErrorKind::usage, "a scale of {} does not give between 1 and 2^31 - 1 users: choose another",
         options.scale);
  }
  const double mean = static_cast<double>(shape.interactions) / static_cast<double>(shape.users);
  return {std::llround(users), shape.items, std::llround(users * mean)};
}

Csr synthesize(const SynthOptions& options, const Execution& execution) {
  const Shape& shape = shape_of(options.shape);
  const SynthSize size = synth_size(options);
  const Catalogue catalogue = make_catalogue(shape, options.seed);

  Csr matrix{.rows = size.users, .cols = size.items, .offsets = {0}};
  const std::vector<std::int64_t> activity =
      make_activity(shape, size.users, size.interactions, options.seed, execution);
  matrix.offsets.resize(size.users + 1);
  std::inclusive_scan(activity.begin(), activity.end(), matrix.offsets.begin() + 1);
  matrix.indices.resize(matrix.offsets.back());

  const Tiling tiling{size.users, users_per_tile};
  std::optional<Progress> drawing(std::in_place, execution.observer, "synthesize", size.users, "users");
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    Taken taken;
    for (std::int64_t u = tiling.first(tile); u < tiling.last(tile); ++u) {
      draw_items(shape, catalogue, make_taste(shape, catalogue, options.seed, u),
                 CounterRng(options.seed, Purpose::items, u), taken,
                 std::span(matrix.indices).subspan(matrix.offsets[u], activity[u]));
    }
    drawing->advance(tiling.last(tile) - tiling.first(tile));
  });
  drawing.reset();

  const auto least = static_cast<std::int64_t>(static_cast<double>(shape.min_item_users) * options.scale);
  repair_rare_items(matrix, shape, catalogue, least, options.seed, execution.observer);
  if (options.values) {
    matrix.values.resize(matrix.indices.size());
    Progress counting(execution.observer, "count", size.users, "users");
    for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
      for (std::int64_t u = tiling.first(tile); u < tiling.last(tile); ++u) {
        fill_values(matrix, shape, catalogue, options.seed, u);
      }
      counting.advance(tiling.last(tile) - tiling.first(tile));
    });
  }
  return matrix;
}

}  // namespace poise
