#include <algorithm>

#include <fmt/format.h>

#include "poise/report/findings.hpp"
#include "poise/report/report.hpp"
#include "poise/report/text.hpp"

namespace poise {
namespace {

using namespace report;

double validation_score(const StudyResults& results, const StudyRow& row) {
  const Estimate* const estimate = find(row.validation, results.choice);
  return estimate == nullptr ? 0 : estimate->mean;
}

/// "+0.0041 nDCG@100 with alpha 5 (95 % interval +0.0032 to +0.0050, p < 0.001)"
std::string by_how_much(const StudyResults& results, const StudyPair& pair) {
  const StudyRow* const row = find_row(results, pair.data, pair.model, pair.kind);
  return fmt::format("{} {}{} (95 % interval {} to {}, {})", difference(pair.test.difference),
                     metric_name(results.choice), row ? " with alpha " + setting(row->alpha) : "",
                     difference(pair.test.low), difference(pair.test.high), p_text(pair.test.p));
}

/// "of 4 models it helps 3, hurts none, and makes no measurable difference to 1"
std::string models_helped(const std::vector<const StudyPair*>& pairs) {
  const Balance counts = balance(pairs);
  return fmt::format("of {} models it helps {}, hurts {}, and makes no measurable difference to {}",
                     counts.total(), count_or_none(counts.helps), count_or_none(counts.hurts),
                     count_or_none(counts.even));
}

std::string rank_sentence(const StudyResults& results, const std::string& data,
                          const std::optional<std::int64_t>& rank) {
  const StudyRow* best = nullptr;
  for (const StudyRow& row : results.rows) {
    if (row.data != data || row.model.rank != rank || is_baseline(row.model) || !row.final) continue;
    if (best == nullptr || validation_score(results, row) > validation_score(results, *best)) best = &row;
  }
  const bool all = std::ranges::none_of(results.unfinished, [&](const UnfinishedSearch& search) {
    return search.data == data && search.model.rank == rank;
  });
  const char* const so_far = all ? "" : " so far";
  const StudyPair* const pair =
      best == nullptr ? nullptr : find_pair(results, data, best->model, RowKind::weighted, results.choice);
  if (pair == nullptr) return {};
  if (!pair->complete)
    return fmt::format(
        "The search of the model that is best on validation{}, {}, is not complete, so that the "
        "difference may come from tuning and not from weighting: {}.",
        so_far, model_name(best->model), by_how_much(results, *pair));
  const int found = direction(*pair);
  const char* const verb = found == 0 ? "makes no measurable difference to" : found > 0 ? "helps" : "hurts";
  std::string text = fmt::format("Weighting {} the model that is best on validation{}, {}: {}", verb, so_far,
                                 model_name(best->model), by_how_much(results, *pair));
  if (const auto pairs = deciding_pairs(results, data, rank); pairs.size() > 1)
    text += "; " + models_helped(pairs);
  text += ".";
  if (const StudyPair* const down =
          find_pair(results, data, best->model, RowKind::down_weighted, results.choice);
      down != nullptr && down->complete) {
    const int below = direction(*down);
    text += fmt::format(" Weights below one {}: {}.",
                        below == 0  ? "make no measurable difference to it"
                        : below > 0 ? "help it"
                                    : "hurt it",
                        by_how_much(results, *down));
  }
  return text;
}

/// Whether any row of the data is better than popularity after the correction; false if none was compared.
std::optional<StudyConclusion> nothing_learned(const StudyResults& results, const std::string& data) {
  bool compared = false;
  for (const RowComparison& row : results.against_popularity) {
    if (row.data != data) continue;
    compared = true;
    if (row.corrected_p < significant && row.test.difference > 0) return {};
  }
  if (!compared) return {};
  return StudyConclusion{
      .data = data,
      .rank = {},
      .sentence = fmt::format(
          "No model is measurably better than popularity ({} on the test users, p < 0.05 after Holm's "
          "correction over {} comparisons), so these data do not show whether weighting helps.",
          metric_name(results.choice), results.against_popularity.size()),
      .overall = true};
}

}  // namespace

std::vector<StudyConclusion> conclude(const StudyResults& results) {
  std::vector<StudyConclusion> conclusions;
  for (const StudyData& data : results.data) {
    const bool all =
        std::ranges::find(results.unfinished, data.name, &UnfinishedSearch::data) == results.unfinished.end();
    if (auto conclusion = nothing_learned(results, data.name); conclusion && all)
      conclusions.push_back(std::move(*conclusion));
    for (const auto& rank : ranks_of(results, data.name)) {
      if (std::string text = rank_sentence(results, data.name, rank); !text.empty())
        conclusions.push_back({data.name, rank, std::move(text)});
    }
  }
  return conclusions;
}

}  // namespace poise
