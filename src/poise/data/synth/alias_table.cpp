#include "poise/data/synth/alias_table.hpp"

#include <cassert>
#include <numeric>

namespace poise::synth {
namespace {

std::vector<std::int32_t> first_integers(std::size_t count) {
  std::vector<std::int32_t> labels(count);
  std::iota(labels.begin(), labels.end(), 0);
  return labels;
}

}  // namespace

AliasTable::AliasTable(std::span<const double> weights)
    : AliasTable(first_integers(weights.size()), weights) {}

AliasTable::AliasTable(std::span<const std::int32_t> labels, std::span<const double> weights) {
  assert(labels.size() == weights.size());
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto count = static_cast<double>(weights.size());
  std::vector<double> share(weights.begin(), weights.end());
  std::vector<std::size_t> small;
  std::vector<std::size_t> large;
  for (std::size_t k = 0; k < share.size(); ++k) {
    share[k] *= count / total;
    (share[k] < 1.0 ? small : large).push_back(k);
    slots_.push_back({std::uint64_t{1} << 32U, labels[k], labels[k]});
  }
  while (!small.empty() && !large.empty()) {
    const std::size_t poor = small.back();
    const std::size_t rich = large.back();
    small.pop_back();
    slots_[poor].threshold = static_cast<std::uint64_t>(share[poor] * 0x1p32);
    slots_[poor].other = labels[rich];
    share[rich] -= 1.0 - share[poor];
    if (share[rich] < 1.0) {
      large.pop_back();
      small.push_back(rich);
    }
  }
}

}  // namespace poise::synth
