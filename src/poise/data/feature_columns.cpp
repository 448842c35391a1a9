#include "poise/data/feature_columns.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "poise/data/log/text.hpp"
#include "poise/data/numbers.hpp"

namespace poise {

namespace {

constexpr std::size_t most_bins = 10;

/// Calls take(text) for each text of a cell, which bars separate.
template <class Take>
void for_each_text(std::string_view cell, const Take& take) {
  while (true) {
    const std::size_t bar = cell.find('|');
    const std::string_view text = logs::trimmed(cell.substr(0, bar));
    if (!text.empty()) take(text);
    if (bar == std::string_view::npos) return;
    cell.remove_prefix(bar + 1);
  }
}

void add_texts(const std::string& name, const std::vector<FeatureCell>& cells, FeatureBuilder& builder) {
  std::unordered_map<std::string, std::set<std::int32_t>> items_with;
  for (const auto& [item, cell] : cells)
    for_each_text(cell,
                  [&, item = item](std::string_view text) { items_with[std::string(text)].insert(item); });
  for (const auto& [text, items] : items_with) builder.counts().rare += items.size() == 1 ? 1 : 0;
  for (const auto& [item, cell] : cells)
    for_each_text(cell, [&, item = item](std::string_view text) {
      if (items_with[std::string(text)].size() > 1)
        builder.add(item, builder.feature(fmt::format("{}={}", name, text)), 1);
    });
}

void add_numbers(const std::string& name, const std::vector<FeatureCell>& cells, FeatureBuilder& builder) {
  std::vector<double> ascending;
  ascending.reserve(cells.size());
  for (const FeatureCell& cell : cells) ascending.push_back(*parse_number(cell.text));
  std::ranges::sort(ascending);
  std::vector<double> starts = ascending;  // of ranges
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  if (starts.size() > most_bins) {
    starts.clear();
    for (std::size_t k = 0; k < most_bins; ++k) starts.push_back(ascending[k * ascending.size() / most_bins]);
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  }
  std::vector<std::string> names;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const auto end =
        k + 1 == starts.size() ? ascending.end() : std::ranges::lower_bound(ascending, starts[k + 1]);
    const double greatest = *(end - 1);
    names.push_back(greatest == starts[k] ? fmt::format("{}={}", name, greatest)
                                          : fmt::format("{}={}..{}", name, starts[k], greatest));
  }
  for (const FeatureCell& cell : cells) {
    const auto range = std::ranges::upper_bound(starts, *parse_number(cell.text)) - starts.begin() - 1;
    builder.add(cell.item, builder.feature(names[range]), 1);
  }
}

/// The known ranges of a column of numbers, by where they begin; empty if it was not cut into ranges.
std::map<double, std::string> ranges_of(const std::string& name, const Ids& known) {
  std::map<double, std::string> ranges;
  bool cut = false;
  for (std::int64_t f = 0; f < known.size(); ++f) {
    std::string_view text = known[f];
    if (!text.starts_with(name + "=")) continue;
    text.remove_prefix(name.size() + 1);
    const std::size_t dots = text.find("..");
    const std::optional<double> least = parse_number(text.substr(0, dots));
    const bool is_cut = dots != std::string_view::npos && parse_number(text.substr(dots + 2)).has_value();
    if (!least || (dots != std::string_view::npos && !is_cut)) continue;
    ranges.emplace(*least, known[f]);
    cut = cut || is_cut;
  }
  return cut ? ranges : std::map<double, std::string>();
}

}  // namespace

bool are_numbers(const std::vector<FeatureCell>& cells) {
  return std::ranges::all_of(cells,
                             [](const FeatureCell& cell) { return parse_number(cell.text).has_value(); });
}

void add_column(const std::string& name, const std::vector<FeatureCell>& cells, FeatureBuilder& builder) {
  if (are_numbers(cells)) {
    if (!cells.empty()) add_numbers(name, cells, builder);
  } else {
    add_texts(name, cells, builder);
  }
}

void add_further_column(const std::string& name, const std::vector<FeatureCell>& cells,
                        const KnownFeatures& known, FeatureBuilder& builder) {
  const std::map<double, std::string> ranges = ranges_of(name, known.names);
  const auto named = [&](std::string_view text) {
    std::string own = fmt::format("{}={}", name, text);
    const std::optional<double> number = parse_number(text);
    if (known.index.find(own) || !number || !std::isfinite(*number)) return own;
    if (ranges.empty()) return fmt::format("{}={}", name, *number);
    const auto after = ranges.upper_bound(*number);
    return after == ranges.begin() ? after->second : std::prev(after)->second;
  };
  for (const auto& [item, cell] : cells)
    for_each_text(cell, [&, item = item](std::string_view text) {
      builder.add(item, builder.feature(named(text)), 1);
    });
}

}  // namespace poise
