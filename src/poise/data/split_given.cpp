#include <string_view>
#include <unordered_map>
#include <vector>

#include "poise/data/catalogue.hpp"
#include "poise/data/split.hpp"

namespace poise {

namespace {

std::unordered_map<std::string_view, std::int32_t> index_of(const Ids& ids) {
  std::unordered_map<std::string_view, std::int32_t> index;
  index.reserve(ids.size());
  for (std::int64_t k = 0; k < ids.size(); ++k) index.emplace(ids[k], static_cast<std::int32_t>(k));
  return index;
}

/// A given held-out log in the numbers of the training data; its additional users come last.
HeldOut given_part(const Interactions& log, const Dataset& dataset,
                   const std::unordered_map<std::string_view, std::int32_t>& users,
                   const std::unordered_map<std::string_view, std::int32_t>& items, PrepareCounts& counts,
                   const Execution& execution) {
  const Histories histories = group_by_user(log, execution);
  Catalogue catalogue{std::vector<std::int32_t>(log.items.size(), Catalogue::outside), dataset.items};
  for (std::int64_t i = 0; i < log.items.size(); ++i) {
    const auto found = items.find(log.items[i]);
    if (found != items.end()) catalogue.number[i] = found->second;
  }
  constexpr std::int32_t nobody = -1;
  std::vector<std::int32_t> user_of_row(dataset.users.size(), nobody);
  HeldOut part{.users = dataset.users, .fold_in = {}, .targets = {}};
  for (std::int64_t u = 0; u < log.users.size(); ++u) {
    const auto found = users.find(log.users[u]);
    if (found != users.end()) {
      user_of_row[found->second] = static_cast<std::int32_t>(u);
    } else {
      user_of_row.push_back(static_cast<std::int32_t>(u));
      part.users.push_back(log.users[u]);
    }
  }
  const auto entries = [&](std::int64_t k, const auto& add) {
    if (user_of_row[k] != nobody) for_each_entry(histories, catalogue, user_of_row[k], add);
  };
  const auto rows = static_cast<std::int64_t>(user_of_row.size());
  part.targets = build_rows(rows, catalogue, histories.value, entries, execution);
  part.fold_in = borrowed_rows(dataset.train, rows);
  counts.duplicates += histories.duplicates;
  counts.empty_ids += log.empty_ids;
  counts.below_threshold += log.below_threshold;
  counts.skipped_lines += log.skipped_lines;
  counts.outside_catalogue += log.rows() - histories.duplicates - part.targets.entries();
  return part;
}

}  // namespace

Dataset split_given(const Interactions& train, const std::optional<Interactions>& validation,
                    const std::optional<Interactions>& test, const Execution& execution,
                    const Ids* known_items) {
  Dataset dataset = split_none(train, {.known_items = known_items}, execution);
  dataset.split = SplitKind::given;
  const auto users = index_of(dataset.users);
  const auto items = index_of(dataset.items);
  const auto part = [&](const std::optional<Interactions>& log) -> std::optional<HeldOut> {
    if (!log) return std::nullopt;
    return given_part(*log, dataset, users, items, dataset.counts, execution);
  };
  dataset.validation = part(validation);
  dataset.test = part(test);
  return dataset;
}

}  // namespace poise
