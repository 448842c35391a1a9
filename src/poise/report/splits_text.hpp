#pragma once

#include <string>

#include "poise/report/table.hpp"
#include "poise/study/splits.hpp"

/// Parts that the reports over splits share.
namespace poise::report {

/// "Over 3 splits weighting helps in 2 of 5 comparisons"
std::string splits_headline(const SplitsResults& results);

/// What a comparison is, what a spread is, and how little a few splits can show.
std::string splits_terms(const SplitsResults& results);

/// The row with the highest mean validation figure, with its test figure and how often it was first.
std::string best_row_text(const SplitsResults& results, const std::string& data);

/// "3 of 5 rows are above popularity in every split"; empty without rows.
std::string popularity_over_splits(const SplitsResults& results);

/// "1.47 to 5", or one value if all are equal.
std::string range_text(const SplitValues& values);

/// "all 3", "both", "2 of 3", "none of 3"
std::string count_of_splits(int count, int splits);

/// "spread 0.0021"; "" for a single split
std::string spread_text(const std::optional<double>& spread);

/// "+0.0039 to +0.0194"; "" if it has no ends
std::string interval_text(const PairedDifference& test);

/// The row over splits that belongs to a row of means.
const SplitRow& splits_of(const SplitsResults& results, const StudyRow& row);

/// "1, 2, 3"
std::string seed_list(const SplitsResults& results);

/// What a split is known by: "seed" or "cut".
std::string split_kind(const SplitsResults& results);

}  // namespace poise::report
