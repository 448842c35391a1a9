#pragma once

#include "poise/linalg/user_rows.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// Adds the disliked entries of `users` to weights of their items alone, with 1 + C_ui = `weight`. Their sum
/// over the entries of X stays as it is. Error{input} where the dislikes are of another shape. O(entries).
void add_dislikes(Weights& weights, const UserRows& users, double weight, int threads);

}  // namespace poise
