#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "poise/study/results.hpp"

namespace poise::report {

/// How the weighted rows compare with the unweighted ones on the study's metric: a difference counts if p <
/// 0.05.
struct Balance {
  int helps = 0;
  int hurts = 0;
  int even = 0;

  [[nodiscard]] int total() const { return helps + hurts + even; }
};
Balance balance(const StudyResults& results);
Balance balance(const std::vector<const StudyPair*>& pairs);

/// The weighted rows of a rank on a data set against the unweighted ones, on the study's metric, if both
/// searches are complete.
std::vector<const StudyPair*> deciding_pairs(const StudyResults& results, const std::string& data,
                                             const std::optional<std::int64_t>& rank);

/// The ranks of a data set's rows, ascending; full rank, which has no number, last.
std::vector<std::optional<std::int64_t>> ranks_of(const StudyResults& results, const std::string& data);

/// "Weighting helps in 5 of 12 comparisons and hurts in 4"
std::string headline(const StudyResults& results);

/// What a comparison is, how many show nothing, and how many remain after a correction for their number.
std::string headline_terms(const StudyResults& results);

/// For a study that is not complete: where it ended, what was not begun, and how to continue; else empty.
std::string unfinished_finding(const StudyResults& results);

/// "weighting helps 2 of 4 models and hurts 1": the comparisons of one rank; empty without any.
std::string rank_finding(const StudyResults& results, const std::optional<std::int64_t>& rank);

/// The row with the best validation figure, with its test figure (or, if there is none, its validation
/// figure), and the rows that the test users cannot distinguish from it; empty if nothing was measured.
std::string best_finding(const StudyResults& results, const std::string& data);

/// If training rows serve as validation part: how many, and what the test figures mean; else empty.
std::string validation_note(const StudyData& data);

/// All that is said of the data sets, each sentence with what it is about: the conclusions, then of each data
/// set the best row, in the words of `best`, and validation_note(); as texts of a format, by its `escape`.
std::vector<std::pair<std::string, std::string>> listed_findings(
    const StudyResults& results, const std::function<std::string(const std::string& data)>& best,
    std::string (*escape)(std::string_view));

/// "12 of 14 rows beat popularity", by Holm's corrected p; empty without comparisons.
std::string popularity_finding(const StudyResults& results);

/// The largest certificates at full rank and at low rank, rows without one and rows that did not converge;
/// empty without trained rows.
std::string certificate_finding(const StudyResults& results);

/// What a certificate is, at full rank and at low rank.
std::string certificate_terms();

}  // namespace poise::report
