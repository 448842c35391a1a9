#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "poise/data/interactions.hpp"

namespace poise::testing {

struct LogRow {
  std::string user;
  std::string item;
  std::optional<float> value = std::nullopt;
};

/// A log of these rows, as reading it would give it.
inline Interactions log_of(const std::vector<LogRow>& rows) {
  Interactions log;
  const auto number = [](std::map<std::string, std::int32_t>& known, Ids& ids, const std::string& id) {
    const auto [place, added] = known.emplace(id, static_cast<std::int32_t>(ids.size()));
    if (added) ids.push_back(id);
    return place->second;
  };
  std::map<std::string, std::int32_t> users;
  std::map<std::string, std::int32_t> items;
  for (const LogRow& row : rows) {
    log.user.push_back(number(users, log.users, row.user));
    log.item.push_back(number(items, log.items, row.item));
    if (row.value) log.value.push_back(*row.value);
  }
  return log;
}

}  // namespace poise::testing
