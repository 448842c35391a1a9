#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "poise/data/item_features.hpp"

namespace poise {

/// Collects the entries of a FeatureTable; items and features are numbered by first appearance.
class FeatureBuilder {
 public:
  std::int32_t item(std::string_view id) { return number_of(id, items_, table_.items); }
  std::int32_t feature(std::string_view name) { return number_of(name, features_, table_.names); }
  [[nodiscard]] bool has_item(std::string_view id) const { return items_.contains(std::string(id)); }
  /// What the values of a pair add up to so far.
  [[nodiscard]] double sum(std::int32_t item, std::int32_t feature) const;
  /// Whether the pair is new; its values add up.
  bool add(std::int32_t item, std::int32_t feature, double value);
  /// The counts of the result.
  [[nodiscard]] FeatureTable& counts() { return table_; }
  /// `values`: keep them, and leave pairs of value 0 out.
  [[nodiscard]] FeatureTable take(bool values);

 private:
  using Numbers = std::unordered_map<std::string, std::int32_t>;
  static std::int32_t number_of(std::string_view text, Numbers& numbers, Ids& texts);

  Numbers items_;
  Numbers features_;
  FeatureTable table_;
  std::vector<std::map<std::int32_t, double>> rows_;  // by item
};

}  // namespace poise
