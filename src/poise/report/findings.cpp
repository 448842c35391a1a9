#include "poise/report/findings.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "poise/report/text.hpp"

namespace poise::report {

namespace {

constexpr double significant = 0.05;

std::vector<const StudyPair*> deciding_pairs(const StudyResults& results) {
  std::vector<const StudyPair*> pairs;
  for (const StudyPair& pair : results.pairs) {
    if (pair.kind == RowKind::weighted && pair.metric == results.choice) pairs.push_back(&pair);
  }
  return pairs;
}

std::string count_of(int part, int whole) {
  if (part == whole && whole > 1) return fmt::format("all {}", whole);
  return fmt::format("{} of {}", part, whole);
}

}  // namespace

Balance balance(const StudyResults& results) {
  Balance result;
  for (const StudyPair* pair : deciding_pairs(results)) {
    if (!(pair->test.p < significant)) {
      ++result.even;
    } else if (pair->test.difference > 0) {
      ++result.helps;
    } else {
      ++result.hurts;
    }
  }
  return result;
}

std::vector<RankGain> gains_by_rank(const StudyResults& results) {
  std::vector<RankGain> gains;
  for (const StudyPair* pair : deciding_pairs(results)) {
    auto gain = std::ranges::find(gains, pair->model.rank, &RankGain::rank);
    if (gain == gains.end()) gain = gains.insert(gains.end(), {.rank = pair->model.rank});
    ++gain->pairs;
    gain->mean += (pair->test.difference - gain->mean) / gain->pairs;
  }
  std::ranges::sort(gains, std::less{}, [](const RankGain& gain) {
    return gain.rank.value_or(std::numeric_limits<std::int64_t>::max());
  });
  return gains;
}

namespace {

bool nothing_beats_popularity(const StudyResults& results) {
  return !results.against_popularity.empty() &&
         std::ranges::none_of(results.against_popularity, [](const PopularityComparison& row) {
           return row.test.difference > 0 && row.corrected_p < 0.05;
         });
}

}  // namespace

std::string headline(const StudyResults& results) {
  if (nothing_beats_popularity(results)) return "No model is measurably better than popularity";
  const Balance counts = balance(results);
  const int total = counts.total();
  const std::string comparisons = total == 1 ? "comparison" : "comparisons";
  if (total == 0) return "No weighted row to compare with an unweighted one";
  if (counts.helps == 0 && counts.hurts == 0)
    return fmt::format("Weighting makes no measurable difference in {} {}", count_of(total, total),
                       comparisons);
  if (counts.hurts == 0)
    return fmt::format("Weighting helps in {} {}", count_of(counts.helps, total), comparisons);
  if (counts.helps == 0)
    return fmt::format("Weighting hurts in {} {}", count_of(counts.hurts, total), comparisons);
  return fmt::format("Weighting helps in {} of {} comparisons and hurts in {}", counts.helps, total,
                     counts.hurts);
}

std::string headline_terms(const StudyResults& results) {
  const Balance counts = balance(results);
  if (counts.total() == 0) return "";
  std::string text = fmt::format(
      "A comparison is the best weighted against the best unweighted model of one kind, rank and data set: "
      "{} on "
      "the test users, paired t test, p < 0.05, not corrected for their number.",
      metric_name(results.choice));
  if (counts.even > 0 && counts.even < counts.total())
    text += fmt::format(" {} no measurable difference.",
                        counts.even == 1 ? "One shows" : fmt::format("{} show", counts.even));
  return text;
}

std::string rank_finding(const StudyResults& results) {
  std::string gains;
  for (const RankGain& gain : gains_by_rank(results))
    gains +=
        fmt::format("{}{} at {}", gains.empty() ? "" : ", ", difference(gain.mean), rank_name(gain.rank));
  return gains.empty() ? "" : fmt::format("Weighting changes {} by {}", metric_name(results.choice), gains);
}

std::string best_finding(const StudyResults& results, const std::string& data) {
  const StudyRow* best = nullptr;
  const Estimate* highest = nullptr;
  for (const StudyRow& row : results.rows) {
    const Estimate* estimate = row.data == data ? find(row.test, results.choice) : nullptr;
    if (!estimate || (highest && !(estimate->mean > highest->mean))) continue;
    best = &row;
    highest = estimate;
  }
  if (!best) return "";
  std::string name = model_name(best->model);
  if (best->model.rank) name += fmt::format(", {}", rank_name(best->model.rank));
  if (!is_baseline(best->model)) name += fmt::format(", {}", to_string(best->kind));
  return fmt::format("Most accurate: {}, {} {}", name, metric_name(results.choice), accuracy(highest->mean));
}

std::string popularity_finding(const StudyResults& results) {
  const auto& rows = results.against_popularity;
  if (rows.empty()) return "";
  const auto better = std::ranges::count_if(rows, [](const PopularityComparison& row) {
    return row.corrected_p < significant && row.test.difference > 0;
  });
  const std::string count = better == 0 ? "No row beats"
                            : better == std::ssize(rows)
                                ? fmt::format("All {} rows beat", better)
                                : fmt::format("{} of {} rows beat", better, rows.size());
  return fmt::format("{} popularity", count);
}

std::string certificate_finding(const StudyResults& results) {
  double largest = 0;
  int trained = 0;
  int open = 0;
  for (const StudyRow& row : results.rows) {
    if (is_baseline(row.model)) continue;
    ++trained;
    if (!row.converged) ++open;
    largest = std::max(largest, row.certificate.relative);
  }
  if (trained == 0) return "";
  const std::string proven =
      fmt::format("Every row is certified to {} of its explained weight", bound(largest));
  return open == 0 ? proven : fmt::format("{}; {} of {} rows did not converge", proven, open, trained);
}

}  // namespace poise::report
