#include "poise/data/attach_features.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "poise/data/count_names.hpp"
#include "poise/data/item_index.hpp"

namespace poise {

void attach_features(Dataset& dataset, const FeatureTable& table) {
  const ItemIndex index(dataset.items);
  constexpr std::int32_t nothing = -1;
  std::vector<std::int32_t> row_of(dataset.items.size(), nothing);
  for (std::int64_t k = 0; k < table.items.size(); ++k) {
    if (const auto item = index.find(table.items[k])) {
      row_of[*item] = static_cast<std::int32_t>(k);
    } else {
      ++dataset.counts.unknown_feature_items;
    }
  }
  const CsrView rows = table.rows.view();
  const auto for_each = [&](const auto& take) {  // entries, by item
    for (std::size_t item = 0; item < row_of.size(); ++item) {
      if (row_of[item] == nothing) continue;
      for (std::int64_t e = rows.offsets[row_of[item]]; e < rows.offsets[row_of[item] + 1]; ++e)
        take(static_cast<std::int32_t>(item), e);
    }
  };
  std::vector<bool> used(table.names.size(), false);
  for_each([&](std::int32_t, std::int64_t e) { used[rows.indices[e]] = true; });
  ItemFeatures& features = dataset.features;
  features = {};
  std::vector<std::int32_t> number(table.names.size(), nothing);
  for (std::size_t f = 0; f < used.size(); ++f) {
    if (!used[f]) continue;
    number[f] = static_cast<std::int32_t>(features.names.size());
    features.names.push_back(table.names[static_cast<std::int64_t>(f)]);
  }
  Csr by_item{.rows = dataset.items.size(), .cols = features.names.size(), .offsets = {}};
  by_item.offsets.assign(by_item.rows + 1, 0);
  for_each([&](std::int32_t item, std::int64_t e) {
    ++by_item.offsets[item + 1];
    by_item.indices.push_back(number[rows.indices[e]]);
    if (!rows.values.empty()) by_item.values.push_back(rows.values[e]);
  });
  for (std::int64_t i = 0; i < by_item.rows; ++i) by_item.offsets[i + 1] += by_item.offsets[i];
  if (features.names.size() > 0) features.rows = transpose(by_item.view());
  dataset.counts.duplicate_features += table.duplicates;
  dataset.counts.rare_features += table.rare;
  dataset.counts.skipped_lines += table.skipped_lines;
}

void carry_features(const Dataset& from, Dataset& to) {
  if (from.features.rows.rows == 0) return;
  FeatureTable table;
  table.items = from.items;
  table.names = from.features.names;
  table.rows = transpose(from.features.rows.view());
  attach_features(to, table);
  for (const auto& [name, count] : feature_counts) to.counts.*count = from.counts.*count;
}

Ids items_with_features(const Dataset& dataset) {
  const std::vector<std::int64_t> counts = column_counts(dataset.features.rows.view());
  Ids ids;
  for (std::size_t item = 0; item < counts.size(); ++item) {
    if (counts[item] > 0) ids.push_back(dataset.items[static_cast<std::int64_t>(item)]);
  }
  return ids;
}

Ids items_with_features(const FeatureTable& table) {
  Ids ids;
  for (std::int64_t k = 0; k < table.items.size(); ++k) {
    if (table.rows.view().row_size(k) > 0) ids.push_back(table.items[k]);
  }
  return ids;
}

std::int64_t cold_items(const Dataset& dataset) {
  return std::ranges::count(column_counts(dataset.train.view()), 0);
}

}  // namespace poise
