#include "poise/data/summary.hpp"

#include <string_view>
#include <unordered_set>

#include "poise/data/count_names.hpp"

namespace poise {

namespace {

std::optional<PartSummary> summarize_part(const Dataset& dataset, const std::optional<HeldOut>& part) {
  if (!part) return std::nullopt;
  if (shares_users(dataset.split))
    return PartSummary{part->targets.rows, part->targets.entries(), part->disliked.entries()};
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

/// Users, interactions and dislikes of all parts of a split whose parts share users. A user's last part has
/// all that it has before.
PartSummary whole_of_users(const Dataset& dataset) {
  PartSummary whole;
  std::unordered_set<std::string_view> counted;
  const auto count = [&](const Ids& users, const Csr& disliked, const auto& size) {
    for (std::int64_t u = 0; u < users.size(); ++u) {
      if (!counted.insert(users[u]).second) continue;
      ++whole.users;
      whole.interactions += size(u);
      if (disliked.rows > 0) whole.dislikes += disliked.view().row_size(u);
    }
  };
  for (const auto* part : {&dataset.test, &dataset.validation}) {
    if (!*part) continue;
    const CsrView history = (*part)->fold_in.view();
    const CsrView targets = (*part)->targets.view();
    count((*part)->users, (*part)->disliked,
          [&](std::int64_t u) { return history.row_size(u) + targets.row_size(u); });
  }
  count(dataset.users, dataset.disliked, [&](std::int64_t u) { return dataset.train.view().row_size(u); });
  return whole;
}

DatasetSummary parts_of(const Dataset& dataset) {
  DatasetSummary summary;
  summary.items = dataset.items.size();
  summary.train = {dataset.train.rows, dataset.train.entries(), dataset.disliked.entries()};
  summary.validation = summarize_part(dataset, dataset.validation);
  summary.test = summarize_part(dataset, dataset.test);
  return summary;
}

}  // namespace

DatasetSummary summarize(const Dataset& dataset) {
  DatasetSummary summary = parts_of(dataset);
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
  if (shares_users(dataset.split)) {
    const PartSummary whole = whole_of_users(dataset);
    summary.users = whole.users;
    summary.interactions = whole.interactions;
    summary.dislikes = whole.dislikes;
  }
  const double cells = static_cast<double>(summary.users) * static_cast<double>(summary.items);
  summary.density = cells > 0 ? static_cast<double>(summary.interactions) / cells : 0;
  return summary;
}

}  // namespace poise
