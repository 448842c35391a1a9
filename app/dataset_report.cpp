#include "dataset_report.hpp"

#include <fmt/format.h>

#include "poise/data/attach_features.hpp"
#include "poise/data/count_names.hpp"
#include "poise/data/summary.hpp"
#include "poise/data/times.hpp"

namespace poise::app {

namespace {

Json part_json(const std::optional<PartSummary>& part, bool with_dislikes) {
  if (!part) return nullptr;
  Json json = {{"users", part->users}, {"interactions", part->interactions}};
  if (with_dislikes) json["dislikes"] = part->dislikes;
  return json;
}

Json time_json(std::optional<std::int64_t> time) { return time ? Json(time_text(*time)) : Json(); }

std::string cuts_text(const TimeCuts& cuts) {
  return fmt::format("  {}test from {}{}\n",
                     cuts.validation ? fmt::format("validation from {}, ", time_text(*cuts.validation)) : "",
                     time_text(cuts.test), cuts.end ? fmt::format(" to {}", time_text(*cuts.end)) : "");
}

std::string part_text(std::string_view name, const std::optional<PartSummary>& part) {
  if (!part) return "";
  return fmt::format("  {:<11}{:>10} users {:>12} interactions{}\n", name, grouped(part->users),
                     grouped(part->interactions),
                     part->dislikes > 0 ? fmt::format(" {:>12} dislikes", grouped(part->dislikes)) : "");
}

}  // namespace

Json dataset_json(const Dataset& dataset) {
  const DatasetSummary summary = summarize(dataset);
  Json json = {{"users", summary.users},
               {"items", summary.items},
               {"interactions", summary.interactions},
               {"density", summary.density}};
  for (const auto& [name, member] : read_counts) json[name] = dataset.counts.*member;
  // Data without dislikes are reported as before there were any.
  const bool disliked = summary.dislikes > 0 || dataset.counts.dropped_dislikes > 0;
  json["train"] = part_json(summary.train, disliked);
  json["validation"] = part_json(summary.validation, disliked);
  json["test"] = part_json(summary.test, disliked);
  for (const auto& [name, member] : filter_counts) json[name] = dataset.counts.*member;
  for (const auto& [name, member] : dislike_counts) {
    if (disliked) json[name] = dataset.counts.*member;
  }
  const ItemFeatures& features = dataset.features;
  if (features.rows.rows > 0) {
    json["features"] = features.rows.rows;
    json["items_with_features"] = items_with_features(dataset).size();
    json["cold_items"] = cold_items(dataset);
    for (const auto& [name, member] : feature_counts) json[name] = dataset.counts.*member;
  }
  if (!shares_users(dataset.split)) return json;
  for (const auto& [name, member] : time_counts) json[name] = dataset.counts.*member;
  if (dataset.cuts) {
    json["validation_from"] = time_json(dataset.cuts->validation);
    json["test_from"] = time_json(dataset.cuts->test);
    json["test_to"] = time_json(dataset.cuts->end);
  }
  return json;
}

std::string dataset_text(const Dataset& dataset) {
  const DatasetSummary summary = summarize(dataset);
  std::string text =
      fmt::format("{} users x {} items, {} interactions, density {:.3g} %{}\n", grouped(summary.users),
                  grouped(summary.items), grouped(summary.interactions), 100 * summary.density,
                  dataset.train.values.empty() ? "" : ", with values");
  if (dataset.cuts) text += cuts_text(*dataset.cuts);
  text += part_text("train", summary.train) + part_text("validation", summary.validation) +
          part_text("test", summary.test);
  if (dataset.features.rows.rows > 0)
    text += fmt::format("  {} features of {} items; {} items have no training row\n",
                        grouped(dataset.features.rows.rows), grouped(items_with_features(dataset).size()),
                        grouped(cold_items(dataset)));
  const auto count = [&](std::int64_t number, std::string_view what) {
    if (number > 0) text += fmt::format("  {:>12} {}\n", grouped(number), what);
  };
  count(dataset.counts.skipped_lines, "bad lines skipped");
  count(dataset.counts.empty_ids, "rows dropped: no user or no item id");
  count(dataset.counts.below_threshold, "rows dropped: value not above the threshold");
  count(dataset.counts.duplicates,
        fmt::format("rows merged into earlier ones of the same user and item{}",
                    dataset.train.values.empty() ? "" : ", their values added up"));
  count(dataset.counts.filtered_items, "items dropped: too few users (--min-item-users)");
  count(dataset.counts.filtered_users, "users dropped: too few items (--min-user-items)");
  count(dataset.counts.filtered_interactions, "interactions dropped with them");
  count(dataset.counts.outside_catalogue, "held-out entries dropped: no training user has the item");
  count(dataset.counts.dropped_dislikes,
        "dislikes dropped: the same user likes the item, or the training data lack it, or the user is not "
        "kept, or they come after the cut");
  count(dataset.counts.disliked_targets, "targets dropped: their users dislike the items in training");
  count(dataset.counts.unknown_feature_items, "items of the file of features not used: they are filtered");
  count(dataset.counts.duplicate_features, "repeated lines of item features");
  count(dataset.counts.rare_features, "texts of item features left out: one item alone has them");
  count(dataset.counts.unknown_users,
        fmt::format("users of held-out parts dropped: no history {}, with {} interactions",
                    dataset.split == SplitKind::cold_items ? "of other items" : "before the cut",
                    grouped(dataset.counts.unknown_interactions)));
  count(dataset.counts.unknown_items, "items of held-out parts dropped: no training user has them");
  count(dataset.counts.repeats, "held-out entries dropped: the user has the item before the cut");
  count(dataset.counts.after_test, "rows after the test part dropped (--test-to)");
  return text;
}

void say_if_without_targets(const Dataset& dataset, const Context& context) {
  for (const auto& [name, part] : {std::pair("validation", &dataset.validation), {"test", &dataset.test}}) {
    if (part->has_value() && (*part)->targets.entries() == 0)
      context.say(
          fmt::format("note: no user of the {} part has anything to find; {}", name,
                      is_in_time(dataset.split) ? "move the cut, or lower --min-user-items"
                      : dataset.split == SplitKind::cold_items
                          ? "choose another --seed, or lower --min-user-items"
                          : "raise --target-share, or keep users with more items (--min-user-items)"));
  }
}

}  // namespace poise::app
