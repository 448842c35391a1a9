#include "poise/data/synth/user.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace poise::synth {
namespace {

constexpr int min_groups = 2;
constexpr double niche_bonus = 1.0;  // affinity of a favoured niche, added to its group's share

std::int32_t draw_item(const Shape& shape, const Catalogue& catalogue, const Taste& taste, CounterRng& rng) {
  if (rng.uniform() < taste.broad) return catalogue.all.draw(rng);
  double at = rng.uniform();
  int k = 0;
  while (k + 1 < taste.groups && at >= taste.share[k]) at -= taste.share[k++];
  if (rng.uniform() >= shape.niche_share) return catalogue.in_group[taste.group[k]].draw(rng);
  return catalogue.in_niche[taste.niche[k][rng.below(Taste::niches_each)]].draw(rng);
}

}  // namespace

double Taste::affinity(const Catalogue& catalogue, std::int32_t item) const {
  for (int k = 0; k < groups; ++k) {
    if (group[k] != catalogue.group[item]) continue;
    const bool favoured =
        std::find(niche[k].begin(), niche[k].end(), catalogue.niche[item]) != niche[k].end();
    return share[k] + (favoured ? niche_bonus : 0.0);
  }
  return 0.0;
}

Taste make_taste(const Shape& shape, const Catalogue& catalogue, std::uint64_t seed, std::int64_t user) {
  CounterRng rng(seed, Purpose::taste, user);
  Taste taste;
  taste.broad = shape.broad_least + (shape.broad_most - shape.broad_least) * rng.uniform();
  const int wanted = min_groups + static_cast<int>(rng.below(Taste::max_groups - min_groups + 1));
  double total = 0;
  // A group drawn twice is favoured more; drawing by popularity preserves the items' overall popularity.
  for (int k = 0; k < wanted; ++k) {
    const std::int32_t group = catalogue.groups.draw(rng);
    const double weight = rng.exponential();
    total += weight;
    const auto slot =
        std::find(taste.group.begin(), taste.group.begin() + taste.groups, group) - taste.group.begin();
    if (slot == taste.groups) {
      taste.group[taste.groups++] = group;
      for (std::int32_t& niche : taste.niche[slot]) {
        niche = group * shape.niches_per_group + catalogue.niches_of[group].draw(rng);
      }
    }
    taste.share[slot] += weight;
  }
  for (double& share : taste.share) share /= total;
  return taste;
}

std::vector<std::int64_t> make_activity(const Shape& shape, std::int64_t users, std::int64_t total,
                                        std::uint64_t seed, const Execution& execution) {
  const auto cap = static_cast<std::int64_t>(shape.max_user_share * static_cast<double>(shape.items));
  const Tiling tiling{users, 65'536};
  const auto for_each_user = [&](const auto& body) {
    for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
      stop_if_asked(execution.observer);
      for (std::int64_t u = tiling.first(tile); u < tiling.last(tile); ++u) body(tile, u);
    });
  };
  std::vector<double> above(users);
  for_each_user([&](std::int64_t /*tile*/, std::int64_t u) {
    above[u] = std::exp(shape.activity_sigma * CounterRng(seed, Purpose::activity, u).normal());
  });
  const auto count = [&](double factor, std::int64_t u) {
    const double extra = std::min(factor * above[u], static_cast<double>(cap - shape.min_user_items));
    return shape.min_user_items + static_cast<std::int64_t>(extra);
  };
  // The sum grows with the factor, so bisection finds the factor whose sum is the total.
  double low = 0;
  auto high = static_cast<double>(cap);
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    std::vector<std::int64_t> sums(tiling.tiles(), 0);
    for_each_user([&](std::int64_t tile, std::int64_t u) { sums[tile] += count(middle, u); });
    const std::int64_t sum = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
    (sum <= total ? low : high) = middle;
  }
  std::vector<std::int64_t> result(users);
  for_each_user([&](std::int64_t /*tile*/, std::int64_t u) { result[u] = count(low, u); });
  return result;
}

void draw_items(const Shape& shape, const Catalogue& catalogue, const Taste& taste, CounterRng rng,
                Taken& taken, std::span<std::int32_t> row) {
  taken.clear(row.size());
  std::size_t size = 0;
  const auto add = [&](std::int32_t item) {
    if (size < row.size() && taken.take(item)) row[size++] = item;
  };
  // A user who already has nearly all items of its taste would draw in vain: after so many draws any new item
  // is taken.
  std::size_t patience = 100 * row.size() + 1000;
  while (size < row.size()) {
    if (patience == 0) {
      add(static_cast<std::int32_t>(rng.below(shape.items)));
      continue;
    }
    --patience;
    const std::int32_t item = draw_item(shape, catalogue, taste, rng);
    add(item);
    if (rng.uniform() < shape.series_share) add(catalogue.sequel[item]);
  }
  std::sort(row.begin(), row.end());
}

}  // namespace poise::synth
