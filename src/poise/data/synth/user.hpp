#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/data/synth/catalogue.hpp"

namespace poise::synth {

/// The taste of one user: some groups and, within each, some niches; the other draws follow popularity.
struct Taste {
  static constexpr int max_groups = 4;
  static constexpr int niches_each = 2;

  double broad = 0;  ///< share of draws by popularity alone
  int groups = 0;
  std::array<std::int32_t, max_groups> group{};
  std::array<double, max_groups> share{};  ///< of the other draws; adds up to 1
  std::array<std::array<std::int32_t, niches_each>, max_groups> niche{};

  /// The user's affinity for an item: 0 outside the favoured groups, up to 2.
  [[nodiscard]] double affinity(const Catalogue& catalogue, std::int32_t item) const;
};

/// The taste of a user, which depends on (seed, user) alone.
Taste make_taste(const Shape& shape, const Catalogue& catalogue, std::uint64_t seed, std::int64_t user);

/// How many items each user has: lognormal above the minimum, capped, their sum as close to `total` as
/// rounding allows. O(users), in parallel; Error{interrupted} when the observer asks to stop.
std::vector<std::int64_t> make_activity(const Shape& shape, std::int64_t users, std::int64_t total,
                                        std::uint64_t seed, const Execution& execution);

/// The items that one user has taken so far: a hash table with open addressing, so that its memory follows
/// the user's items and not the catalogue.
class Taken {
 public:
  /// Forgets all items and makes room for `most` of them. O(most).
  void clear(std::size_t most) { slots_.assign(std::bit_ceil(2 * most + 2), -1); }
  /// False when it was taken already.
  bool take(std::int32_t item) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (static_cast<std::uint64_t>(item) * 0x9e3779b97f4a7c15U >> 32U) & mask;
    while (slots_[at] >= 0) {
      if (slots_[at] == item) return false;
      at = (at + 1) & mask;
    }
    slots_[at] = item;
    return true;
  }

 private:
  std::vector<std::int32_t> slots_;
};

/// Fills `row` with distinct items of the user, ascending.
void draw_items(const Shape& shape, const Catalogue& catalogue, const Taste& taste, CounterRng rng,
                Taken& taken, std::span<std::int32_t> row);

}  // namespace poise::synth
