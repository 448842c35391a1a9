#include "poise/report/splits_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "poise/report/findings.hpp"
#include "poise/report/report.hpp"
#include "poise/report/text.hpp"

namespace poise {

namespace report {
namespace {

std::string names_list(const SplitsResults& results, const std::vector<std::uint32_t>& seeds) {
  std::vector<std::string> names;
  names.reserve(seeds.size());
  for (const std::uint32_t seed : seeds) names.push_back(split_name(results, seed));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Whether no trained row of the data is above popularity in every split that has it.
bool none_above_popularity(const SplitsResults& results, const std::string& data) {
  bool any = false;
  for (std::size_t k = 0; k < results.rows.size(); ++k) {
    const StudyRow& row = results.means.rows[k];
    if (is_baseline(row.model) || row.data != data) continue;
    if (results.rows[k].above_popularity == results.rows[k].splits) return false;
    any = true;
  }
  return any;
}

const SplitPair& pair_in_splits(const SplitsResults& results, const StudyPair& pair) {
  return results.pairs[&pair - results.means.pairs.data()];
}

/// "+0.0117 nDCG@100 on average with alpha 3.16 to 5 (spread 0.0021, positive in all 3 splits, 95 % interval
/// +0.0039 to +0.0194)"
std::string by_how_much_on_average(const SplitsResults& results, const StudyPair& pair) {
  const SplitPair& all = pair_in_splits(results, pair);
  const StudyRow* const row = find_row(results.means, pair.data, pair.model, pair.kind);
  const std::string alpha = row ? " with alpha " + range_text(splits_of(results, *row).alpha) : "";
  const std::string metric = metric_name(results.means.choice);
  if (all.splits == 1) return fmt::format("{} {}{}", difference(pair.test.difference), metric, alpha);
  return fmt::format(
      "{} {} on average{} ({}, positive in {} splits{}, 95 % interval {})", difference(pair.test.difference),
      metric, alpha, spread_text(all.spread), count_of_splits(all.positive, all.splits),
      all.splits < std::ssize(results.seeds) ? " that have such a row" : "", interval_text(pair.test));
}

/// The verdict of the splits on weights above or below one for `object`: "Weighting helps the model ..."
std::string splits_verdict(const SplitsResults& results, const StudyPair& pair, const std::string& object) {
  const SplitPair& all = pair_in_splits(results, pair);
  const std::string how = by_how_much_on_average(results, pair);
  if (all.complete < all.splits)
    return fmt::format(
        "The search of {} is not complete in {} splits, so that the difference may come from tuning and not "
        "from weighting: {}.",
        object, count_of_splits(all.splits - all.complete, all.splits), how);
  const bool below = pair.kind == RowKind::down_weighted;
  const std::string helps = below ? "weights below one help" : "weighting helps";
  const std::string hurts = below ? "hurt" : "hurts";
  if (all.splits == 1)
    return fmt::format("A single split cannot show whether {} {}: {} in it.", helps, object, how);
  if (const int found = direction(pair); found != 0)
    return fmt::format("{} {} {}: {}.", below ? "Weights below one" : "Weighting",
                       found > 0 ? (below ? "help" : "helps") : hurts, object, how);
  const auto negative =
      std::ranges::count_if(present(all.difference), [](double value) { return value < 0; });
  const bool one_sided = all.positive == all.splits || negative == all.splits;
  return fmt::format("{} splits do not show whether {} or {} {}{}: {}.", all.splits, helps, hurts, object,
                     one_sided ? ", though the difference has the same sign in all of them" : "", how);
}

/// " Of 4 models weighting helps 3 and hurts none; of 1 the splits do not show it."
std::string models_helped_in_splits(const SplitsResults& results,
                                    const std::vector<const StudyPair*>& pairs) {
  if (pairs.size() < 2 || results.seeds.size() < 2) return "";
  const Balance counts = balance(pairs);
  return fmt::format(" Of {} models it helps {} and hurts {}{}.", counts.total(), count_or_none(counts.helps),
                     count_or_none(counts.hurts),
                     counts.even == 0 ? "" : fmt::format("; of {} these splits show neither", counts.even));
}

std::string splits_sentence(const SplitsResults& results, const std::string& data,
                            const std::optional<std::int64_t>& rank) {
  const StudyRow* const best = poise::best_over_splits(results, [&](const StudyRow& row) {
    return row.data == data && row.model.rank == rank && !is_baseline(row.model);
  });
  const auto weighted_pair = [&](RowKind kind) {
    return find_pair(results.means, data, best->model, kind, results.means.choice);
  };
  const StudyPair* const pair = best == nullptr ? nullptr : weighted_pair(RowKind::weighted);
  if (pair == nullptr) return {};
  const std::string object = "the model that is best on validation, " + model_name(best->model);
  std::string text = splits_verdict(results, *pair, object) +
                     models_helped_in_splits(results, deciding_pairs(results.means, data, rank));
  if (const StudyPair* const down = weighted_pair(RowKind::down_weighted))
    text += " " + splits_verdict(results, *down, "it");
  return text;
}

}  // namespace

std::string count_of_splits(int count, int splits) {
  if (count == splits) return splits == 1 ? "the one" : splits == 2 ? "both" : fmt::format("all {}", splits);
  return count == 0 ? fmt::format("none of {}", splits) : fmt::format("{} of {}", count, splits);
}

std::string spread_text(const std::optional<double>& spread) {
  return spread ? fmt::format("spread {:.4f}", *spread) : "";
}

std::string interval_text(const PairedDifference& test) {
  if (!std::isfinite(test.low) || !std::isfinite(test.high)) return "";
  return fmt::format("{} to {}", difference(test.low), difference(test.high));
}

std::string range_text(const SplitValues& values) {
  const std::vector<double> all = present(values);
  if (all.empty()) return "";
  const auto [least, most] = std::ranges::minmax(all);
  const std::string low = setting(least);
  const std::string high = setting(most);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

const SplitRow& splits_of(const SplitsResults& results, const StudyRow& row) {
  return results.rows[&row - results.means.rows.data()];
}

std::string seed_list(const SplitsResults& results) { return names_list(results, results.seeds); }

std::string split_kind(const SplitsResults& results) { return results.cuts.empty() ? "seed" : "cut"; }

std::string splits_headline(const SplitsResults& results) {
  const std::size_t splits = results.seeds.size();
  if (!results.unstudied.empty())
    return fmt::format("Not complete: {} of {} splits {} done", splits, splits + results.unstudied.size(),
                       splits == 1 ? "is" : "are");
  if (splits == 1)
    return fmt::format("One split, by {} {}", split_kind(results),
                       split_name(results, results.seeds.front()));
  if (std::ranges::all_of(results.means.data,
                          [&](const StudyData& data) { return none_above_popularity(results, data.name); }))
    return fmt::format("No model is above popularity in all of {} splits", splits);
  const Balance counts = balance(results.means);
  const int total = counts.total();
  if (total == 0 && !results.pairs.empty())
    return fmt::format("No search is complete in all of {} splits, so nothing is said about weighting",
                       splits);
  if (total == 0) return fmt::format("Over {} splits there is no comparison to count", splits);
  const std::string comparisons = total == 1 ? "one comparison" : fmt::format("{} comparisons", total);
  if (counts.even == total)
    return fmt::format("{} splits do not show that weighting helps or hurts in {}{}", splits,
                       total == 1 ? "the " : "any of ", comparisons);
  return fmt::format("Over {} splits weighting helps in {} and hurts in {} of {}", splits, counts.helps,
                     counts.hurts, comparisons);
}

std::string splits_terms(const SplitsResults& results) {
  const std::size_t splits = results.seeds.size();
  std::string text;
  if (!results.unstudied.empty())
    text = fmt::format(
        "There was too little time for the splits of the {}s {}; with more time the same command "
        "continues. ",
        split_kind(results), names_list(results, results.unstudied));
  if (splits == 0) return text + "There is no split yet whose models are all trained.";
  if (splits == 1)
    return text + (text.empty()
                       ? "A single split has no spread, and says nothing about others: give --seeds several."
                       : "The one that is done has no spread.");
  const std::string how =
      results.cuts.empty()
          ? fmt::format(
                "The data were split again by each of the seeds {}, and each split was studied by itself.",
                seed_list(results))
          : fmt::format(
                "The log was cut in time at {}; at each cut models are trained on what is before it, and "
                "tested on what follows. The cuts share training rows, and no cut is a random one, so "
                "take intervals as a guide.",
                seed_list(results));
  return text + fmt::format(
                    "{} Figures are means over the {} splits, and ± is their spread: the standard "
                    "deviation from split to split. A comparison is the best weighted against the best "
                    "unweighted model of one kind, rank and data set in {} on the test part; it counts where "
                    "the 95 % interval of the mean difference is all on one side of 0. That interval has {} "
                    "degree{} of freedom and is widened for what splits of the same data share (corrected "
                    "resampled t test); it is not corrected for the number of comparisons.",
                    how, splits, metric_name(results.means.choice), splits - 1, splits == 2 ? "" : "s");
}

std::string best_row_text(const SplitsResults& results, const std::string& data) {
  const StudyRow* const best =
      poise::best_over_splits(results, [&](const StudyRow& row) { return row.data == data; });
  const Estimate* const test = best == nullptr ? nullptr : find(best->test, results.means.choice);
  if (test == nullptr) return "";
  const SplitRow& all = splits_of(results, *best);
  const int splits = static_cast<int>(results.seeds.size());
  const std::string first = splits == 1 ? ""
                                        : fmt::format(" (on average; first in {} splits)",
                                                      count_of_splits(all.best_on_validation, splits));
  return fmt::format("Best on validation{}: {}, with {} {}{} on the test part.", first,
                     row_name(best->model, best->kind), metric_name(results.means.choice),
                     accuracy(test->mean),
                     test->standard_error ? fmt::format(" ±{}", accuracy(*test->standard_error)) : "");
}

std::string popularity_over_splits(const SplitsResults& results) {
  int rows = 0;
  int above = 0;
  for (std::size_t k = 0; k < results.rows.size(); ++k) {
    if (is_baseline(results.means.rows[k].model)) continue;
    ++rows;
    if (results.rows[k].above_popularity == results.rows[k].splits) ++above;
  }
  if (rows == 0) return "";
  return fmt::format("{} of {} rows {} above popularity in every split ({})", above, rows,
                     above == 1 ? "is" : "are", metric_name(results.means.choice));
}

}  // namespace report

std::vector<StudyConclusion> conclude(const SplitsResults& results) {
  using namespace report;
  std::vector<StudyConclusion> conclusions;
  for (const StudyData& data : results.means.data) {
    if (none_above_popularity(results, data.name))
      conclusions.push_back({.data = data.name,
                             .rank = {},
                             .sentence = "No model is above popularity in every split, so these data do not "
                                         "show whether weighting helps.",
                             .overall = true});
    for (const auto& rank : ranks_of(results.means, data.name)) {
      if (std::string text = splits_sentence(results, data.name, rank); !text.empty())
        conclusions.push_back({data.name, rank, std::move(text)});
    }
  }
  return conclusions;
}

std::string folder_of_split(std::uint32_t seed, bool cut) {
  return fmt::format("{}-{}", cut ? "cut" : "seed", seed);
}

}  // namespace poise
