#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "poise/data/item_index.hpp"
#include "poise/recommend/user_histories.hpp"

namespace poise::serve {

/// Users whose histories the server knows, by id.
class KnownUsers {
 public:
  explicit KnownUsers(UserHistories histories) : histories_(std::move(histories)), index_(histories_.users) {}
  KnownUsers(const KnownUsers&) = delete;
  KnownUsers& operator=(const KnownUsers&) = delete;

  [[nodiscard]] std::optional<std::int64_t> find(std::string_view user) const { return index_.find(user); }
  [[nodiscard]] const UserHistories& histories() const { return histories_; }

 private:
  UserHistories histories_;
  ItemIndex index_;
};

}  // namespace poise::serve
