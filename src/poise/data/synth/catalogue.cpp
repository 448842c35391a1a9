#include "poise/data/synth/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace poise::synth {
namespace {

constexpr double guest_weight = 0.25;      // an item's weight in its second group, relative to its first
constexpr double group_size_offset = 4.0;  // group g has a share of items proportional to 1 / (g + offset)
constexpr std::int64_t series_length = 3;

struct Members {
  std::vector<std::int32_t> items;
  std::vector<double> weights;

  void add(std::int32_t item, double weight) {
    items.push_back(item);
    weights.push_back(weight);
  }
  [[nodiscard]] double weight() const { return std::accumulate(weights.begin(), weights.end(), 0.0); }
  [[nodiscard]] AliasTable table() const { return {items, weights}; }
};

/// The item number of each popularity rank: a random permutation, so that numbers carry no information.
std::vector<std::int32_t> number_items(std::int64_t items, std::uint64_t seed) {
  std::vector<std::int32_t> numbers(items);
  std::iota(numbers.begin(), numbers.end(), 0);
  CounterRng rng(seed, Purpose::numbering, 0);
  for (std::int64_t k = items - 1; k > 0; --k) std::swap(numbers[k], numbers[rng.below(k + 1)]);
  return numbers;
}

double popularity(const Shape& shape, std::int64_t rank) {
  const double head = std::pow(shape.popularity_offset, -shape.popularity_exponent);
  return std::pow(static_cast<double>(rank) + shape.popularity_offset, -shape.popularity_exponent) / head +
         shape.popularity_floor;
}

AliasTable group_sizes(std::int32_t groups) {
  std::vector<double> sizes(groups);
  for (std::int32_t g = 0; g < groups; ++g) sizes[g] = 1.0 / (g + group_size_offset);
  return AliasTable(sizes);
}

/// Items of similar popularity form a series: a sequel is seen about as often as its original.
void link_series(const std::vector<std::int32_t>& by_popularity, std::vector<std::int32_t>& sequel) {
  const auto count = static_cast<std::int64_t>(by_popularity.size());
  for (std::int64_t first = 0; first < count; first += series_length) {
    const std::int64_t length = std::min(series_length, count - first);
    for (std::int64_t k = 0; k < length; ++k) {
      sequel[by_popularity[first + k]] = by_popularity[first + (k + 1) % length];
    }
  }
}

}  // namespace

Catalogue make_catalogue(const Shape& shape, std::uint64_t seed) {
  Catalogue result;
  result.group.resize(shape.items);
  result.niche.resize(shape.items);
  result.sequel.resize(shape.items);
  Members everything;
  std::vector<Members> groups(shape.groups);
  std::vector<Members> niches(shape.groups * shape.niches_per_group);

  const std::vector<std::int32_t> numbers = number_items(shape.items, seed);
  const AliasTable sizes = group_sizes(shape.groups);
  CounterRng rng(seed, Purpose::grouping, 0);
  for (std::int64_t rank = 0; rank < shape.items; ++rank) {
    const std::int32_t item = numbers[rank];
    const double weight = popularity(shape, rank);
    const std::int32_t own = sizes.draw(rng);
    const std::int32_t second = sizes.draw(rng);
    const auto niche =
        static_cast<std::int32_t>(own * shape.niches_per_group + rng.below(shape.niches_per_group));
    result.group[item] = own;
    result.niche[item] = niche;
    everything.add(item, weight);
    groups[own].add(item, weight);
    if (second != own) groups[second].add(item, guest_weight * weight);
    niches[niche].add(item, weight);
  }

  result.all = everything.table();
  std::vector<double> group_weights;
  for (const Members& group : groups) {
    group_weights.push_back(group.weight());
    result.in_group.push_back(group.table());
  }
  result.groups = AliasTable(group_weights);
  std::vector<double> niche_weights;
  for (const Members& niche : niches) {
    niche_weights.push_back(niche.weight());
    result.in_niche.push_back(niche.table());
    link_series(niche.items, result.sequel);
  }
  for (std::int32_t g = 0; g < shape.groups; ++g) {
    result.niches_of.emplace_back(
        std::span(niche_weights).subspan(g * shape.niches_per_group, shape.niches_per_group));
  }
  return result;
}

}  // namespace poise::synth
