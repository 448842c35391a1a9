#pragma once

#include <cstdint>

#include "poise/linalg/csr.hpp"

namespace poise {

/// What is known of users, row by row: the items that they have, with values if there are any, and the items
/// that they dislike. An item that is in both counts as theirs.
struct UserRows {
  CsrView items;
  CsrView disliked = {};     ///< its values are not read; no rows: nobody dislikes anything
  double dislike_share = 0;  ///< what a disliked item takes from a score that is a sum over the items; an
                             ///< item of theirs adds 1

  UserRows() = default;
  UserRows(CsrView their_items, CsrView their_dislikes = {}, double share = 0)  // NOLINT(*-explicit-*)
      : items(their_items), disliked(their_dislikes), dislike_share(share) {}

  [[nodiscard]] std::int64_t rows() const { return items.rows; }
  [[nodiscard]] std::int64_t cols() const { return items.cols; }
  [[nodiscard]] bool any_disliked() const { return disliked.entries() > 0; }
  /// Rows [first, first + count).
  [[nodiscard]] UserRows block(std::int64_t first, std::int64_t count) const {
    return {items.block(first, count), disliked.rows > 0 ? disliked.block(first, count) : disliked,
            dislike_share};
  }
};

/// The items of each row together with those that it dislikes, without values.
Csr all_known(const UserRows& users);

/// Rows whose products with a matrix are sums over the items of each user: 1 for an item, -dislike_share for
/// a disliked one. `room` may hold them.
CsrView summed_rows(const UserRows& users, Csr& room);

}  // namespace poise
