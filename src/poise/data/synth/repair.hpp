#pragma once

#include <cstdint>

#include "poise/base/observer.hpp"
#include "poise/data/synth/catalogue.hpp"
#include "poise/linalg/csr.hpp"

namespace poise::synth {

/// Gives every item at least `least` users: users (those who favour its group first) exchange one of their
/// common items for it, so that no user's count changes. Common items keep at least twice `least`. Returns
/// the number of exchanges. An item keeps fewer users if users or common items do not suffice. Sequential;
/// Error{interrupted} if the observer asks to stop.
std::int64_t repair_rare_items(Csr& matrix, const Shape& shape, const Catalogue& catalogue,
                               std::int64_t least, std::uint64_t seed, const Observer* observer);

}  // namespace poise::synth
