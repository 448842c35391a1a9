#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "poise/data/item_features.hpp"

namespace poise {

std::vector<std::string_view> NamedFeatures::shared(std::int32_t item, std::int32_t other) const {
  if (of_items.rows == 0) return {};
  const CsrView features = of_items.view();
  std::vector<std::int32_t> both;
  std::ranges::set_intersection(features.row(item), features.row(other), std::back_inserter(both));
  std::vector<std::string_view> texts;
  texts.reserve(both.size());
  for (const std::int32_t feature : both) texts.push_back(names[feature]);
  return texts;
}

NamedFeatures named(const ItemFeatures& features) {
  if (features.rows.rows == 0) return {};
  return {.names = features.names, .of_items = transpose(support_of(features.rows.view()))};
}

}  // namespace poise
