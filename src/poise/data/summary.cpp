#include "poise/data/summary.hpp"

#include <string_view>
#include <unordered_set>

namespace poise {

namespace {

std::optional<PartSummary> summarize_part(const Dataset& dataset, const std::optional<HeldOut>& part) {
  if (!part) return std::nullopt;
  if (dataset.split != SplitKind::given) {
    return PartSummary{part->targets.rows, part->fold_in.entries() + part->targets.entries(),
                       part->disliked.entries()};
  }
  PartSummary summary{0, part->targets.entries()};
  for (std::int64_t u = 0; u < part->targets.rows; ++u)
    summary.users += part->targets.view().row_size(u) > 0 ? 1 : 0;
  return summary;
}

/// Users of a given split's held-out files that its training file does not have.
std::int64_t users_without_training(const Dataset& dataset) {
  std::unordered_set<std::string_view> extra;
  for (const auto* part : {&dataset.validation, &dataset.test}) {
    if (!*part) continue;
    for (std::int64_t u = dataset.train.rows; u < (*part)->users.size(); ++u) extra.insert((*part)->users[u]);
  }
  return static_cast<std::int64_t>(extra.size());
}

}  // namespace

DatasetSummary summarize(const Dataset& dataset) {
  DatasetSummary summary;
  summary.items = dataset.items.size();
  summary.train = {dataset.train.rows, dataset.train.entries(), dataset.disliked.entries()};
  summary.validation = summarize_part(dataset, dataset.validation);
  summary.test = summarize_part(dataset, dataset.test);
  summary.users = summary.train.users;
  summary.interactions = summary.train.interactions;
  summary.dislikes = summary.train.dislikes;
  for (const auto& part : {summary.validation, summary.test}) {
    if (!part) continue;
    summary.interactions += part->interactions;
    summary.dislikes += part->dislikes;
    if (dataset.split != SplitKind::given) summary.users += part->users;
  }
  if (dataset.split == SplitKind::given) summary.users += users_without_training(dataset);
  const double cells = static_cast<double>(summary.users) * static_cast<double>(summary.items);
  summary.density = cells > 0 ? static_cast<double>(summary.interactions) / cells : 0;
  return summary;
}

}  // namespace poise
