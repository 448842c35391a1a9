#include "poise/data/feature_builder.hpp"

#include <utility>

namespace poise {

std::int32_t FeatureBuilder::number_of(std::string_view text, Numbers& numbers, Ids& texts) {
  const auto [known, added] = numbers.emplace(text, static_cast<std::int32_t>(texts.size()));
  if (added) texts.push_back(text);
  return known->second;
}

double FeatureBuilder::sum(std::int32_t item, std::int32_t feature) const {
  if (static_cast<std::size_t>(item) >= rows_.size()) return 0;
  const auto pair = rows_[item].find(feature);
  return pair == rows_[item].end() ? 0 : pair->second;
}

bool FeatureBuilder::add(std::int32_t item, std::int32_t feature, double value) {
  if (static_cast<std::size_t>(item) >= rows_.size()) rows_.resize(item + 1);
  const auto [pair, added] = rows_[item].emplace(feature, 0.0);
  pair->second += value;
  return added;
}

FeatureTable FeatureBuilder::take(bool values) {
  rows_.resize(table_.items.size());
  Csr& rows = table_.rows;
  rows = {.rows = table_.items.size(), .cols = table_.names.size(), .offsets = {0}};
  for (const auto& row : rows_) {
    for (const auto& [feature, value] : row) {
      const auto rounded = static_cast<float>(value);
      if (values && !(rounded > 0)) continue;
      rows.indices.push_back(feature);
      if (values) rows.values.push_back(rounded);
    }
    rows.offsets.push_back(rows.entries());
  }
  return std::move(table_);
}

}  // namespace poise
