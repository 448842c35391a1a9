#include "poise/data/merge_features.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/data/item_index.hpp"

namespace poise {

namespace {

struct FeatureEntry {
  std::int32_t feature;
  float value;
};

/// The table's entries of an item that the data know, by feature.
std::vector<FeatureEntry> known_entries(const FeatureTable& table, std::int64_t k,
                                        std::span<const std::optional<std::int32_t>> feature_of,
                                        MergeCounts& counts) {
  const CsrView rows = table.rows.view();
  std::vector<FeatureEntry> entries;
  for (std::int64_t e = rows.offsets[k]; e < rows.offsets[k + 1]; ++e) {
    if (const auto feature = feature_of[rows.indices[e]]) {
      entries.push_back({*feature, rows.values.empty() ? 1.0F : rows.values[e]});
    } else {
      ++counts.unknown_features;
    }
  }
  std::ranges::sort(entries, {}, &FeatureEntry::feature);
  return entries;
}

/// The features with the entries of further items, which had none.
Csr with_entries(const Csr& rows, std::int64_t items, std::vector<std::vector<FeatureEntry>> further,
                 bool values) {
  const Csr before = transpose(rows.view());
  Csr by_item{.rows = items, .cols = rows.rows, .offsets = {0}};
  for (std::int64_t i = 0; i < items; ++i) {
    for (const FeatureEntry& entry : further[i]) {
      by_item.indices.push_back(entry.feature);
      if (values) by_item.values.push_back(entry.value);
    }
    for (std::int64_t k = 0; i < before.rows && k < before.view().row_size(i); ++k) {
      by_item.indices.push_back(before.view().row(i)[k]);
      if (values) by_item.values.push_back(before.values.empty() ? 1.0F : before.view().row_values(i)[k]);
    }
    by_item.offsets.push_back(by_item.entries());
  }
  return transpose(by_item.view());
}

}  // namespace

void describe_items(const FeatureTable& table, Merged& merged) {
  Dataset& data = merged.dataset;
  ItemFeatures& features = data.features;
  if (features.rows.rows == 0)
    fail(ErrorKind::usage,
         "the data know no features of items, so that new items cannot have any; prepare the whole log with "
         "{} "
         "and train again",
         "item-features"_p);
  const ItemIndex of_names(features.names);
  std::vector<std::optional<std::int32_t>> feature_of;
  for (std::int64_t f = 0; f < table.names.size(); ++f) feature_of.push_back(of_names.find(table.names[f]));
  const std::vector<std::int64_t> before = column_counts(features.rows.view());
  const Ids known = data.items;
  const ItemIndex items(known);
  std::vector<std::vector<FeatureEntry>> further(known.size());
  bool values = !features.rows.values.empty();
  for (std::int64_t k = 0; k < table.items.size(); ++k) {
    const std::optional<std::int32_t> item = items.find(table.items[k]);
    if (item && static_cast<std::size_t>(*item) < before.size() && before[*item] > 0) {
      ++merged.counts.described_before;
      continue;
    }
    std::vector<FeatureEntry> entries = known_entries(table, k, feature_of, merged.counts);
    if (entries.empty()) continue;
    values = values || std::ranges::any_of(entries, [](const FeatureEntry& each) { return each.value != 1; });
    merged.described.push_back(item.value_or(static_cast<std::int32_t>(further.size())));
    if (item) {
      further[*item] = std::move(entries);
      continue;
    }
    if (data.items.size() == max_count)
      fail(ErrorKind::input, "the merged data have more than {} items", max_count);
    data.items.push_back(table.items[k]);
    ++merged.counts.new_items;
    further.push_back(std::move(entries));
  }
  std::ranges::sort(merged.described);
  merged.counts.described_items = static_cast<std::int64_t>(merged.described.size());
  data.counts.duplicate_features += table.duplicates;
  data.counts.skipped_lines += table.skipped_lines;
  features.rows = with_entries(features.rows, data.items.size(), std::move(further), values);
}

}  // namespace poise
