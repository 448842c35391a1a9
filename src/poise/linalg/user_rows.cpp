#include "poise/linalg/user_rows.hpp"

#include <span>

namespace poise {
namespace {

/// Calls add(item, is_disliked) for the items of a row in ascending order.
template <class Add>
void for_each_item(const UserRows& users, std::int64_t row, const Add& add) {
  const auto items = users.items.row(row);
  const auto disliked = users.disliked.rows > 0 ? users.disliked.row(row) : std::span<const std::int32_t>();
  std::size_t d = 0;
  for (const std::int32_t item : items) {
    for (; d < disliked.size() && disliked[d] < item; ++d) add(disliked[d], true);
    if (d < disliked.size() && disliked[d] == item) ++d;
    add(item, false);
  }
  for (; d < disliked.size(); ++d) add(disliked[d], true);
}

}  // namespace

Csr all_known(const UserRows& users) {
  Csr all{.rows = users.rows(), .cols = users.cols(), .offsets = {0}};
  for (std::int64_t row = 0; row < users.rows(); ++row) {
    for_each_item(users, row, [&](std::int32_t item, bool /*disliked*/) { all.indices.push_back(item); });
    all.offsets.push_back(all.entries());
  }
  return all;
}

CsrView summed_rows(const UserRows& users, Csr& room) {
  if (users.dislike_share == 0 || !users.any_disliked()) return support_of(users.items);
  room = {.rows = users.rows(), .cols = users.cols(), .offsets = {0}};
  const auto taken = static_cast<float>(-users.dislike_share);
  for (std::int64_t row = 0; row < users.rows(); ++row) {
    for_each_item(users, row, [&](std::int32_t item, bool disliked) {
      room.indices.push_back(item);
      room.values.push_back(disliked ? taken : 1.0F);
    });
    room.offsets.push_back(room.entries());
  }
  return room.view();
}

}  // namespace poise
