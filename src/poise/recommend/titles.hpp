#pragma once

#include <set>
#include <string>
#include <string_view>

#include "poise/data/item_table.hpp"

namespace poise {

/// The titles, and addresses of pictures, of the items that an answer names.
class Titles {
 public:
  /// `table` must outlive it; null: there are no titles.
  explicit Titles(const ItemTable* table) : table_(table) {}
  /// `id` must outlive it.
  void add(std::string_view id) {
    if (table_ != nullptr) ids_.insert(id);
  }
  /// `,"titles":{...}`, by id, and `,"pictures":{...}` where the table has such a column; nothing without a
  /// table.
  [[nodiscard]] std::string text() const;

 private:
  const ItemTable* table_;
  std::set<std::string_view> ids_;
};

}  // namespace poise
