#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poise/study/results.hpp"

namespace poise::report {

/// How the weighted rows compare with the unweighted ones on the study's metric: a difference counts where p
/// < 0.05.
struct Balance {
  int helps = 0;
  int hurts = 0;
  int even = 0;

  [[nodiscard]] int total() const { return helps + hurts + even; }
};
Balance balance(const StudyResults& results);

/// The mean of weighted less unweighted over the pairs of a rank, on the study's metric; smaller ranks first.
struct RankGain {
  std::optional<std::int64_t> rank;
  int pairs = 0;
  double mean = 0;
};
std::vector<RankGain> gains_by_rank(const StudyResults& results);

/// "Weighting helps in 5 of 12 comparisons and hurts in 4"
std::string headline(const StudyResults& results);

/// What a comparison is, and how many show nothing.
std::string headline_terms(const StudyResults& results);

/// "Weighting changes nDCG@100 by +0.0120 at rank 10, -0.0190 at full rank"; empty without pairs.
std::string rank_finding(const StudyResults& results);

/// "Most accurate: Full rank, unweighted, nDCG@100 0.441"; empty where nothing was measured.
std::string best_finding(const StudyResults& results, const std::string& data);

/// "12 of 14 rows beat popularity", by Holm's corrected p; empty without comparisons.
std::string popularity_finding(const StudyResults& results);

/// The largest certificate of the rows, and rows that did not converge; empty without trained rows.
std::string certificate_finding(const StudyResults& results);

}  // namespace poise::report
