#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "poise/study/results.hpp"

/// The format of numbers and names in every kind of report.
namespace poise::report {

/// "0.376": accuracies and their standard errors have three decimals, as in the paper.
std::string accuracy(double value);

/// An accuracy as it is printed, as a number: comparisons use these.
double as_printed(double value);

/// "+0.0042"
std::string difference(double value);

/// "0.012", "< 0.001"
std::string p_value(double p);

/// "p = 0.012", "p < 0.001"
std::string p_text(double p);

/// The largest p of a measurable difference.
constexpr double significant = 0.05;

/// The direction of a measurable difference: 1 better, -1 worse, 0 not measurable.
int direction(const PairedDifference& test);
/// The same for a pair; 0 if a search is not complete, because the difference may come from tuning.
int direction(const StudyPair& pair);

/// "3.2e-7", for certificates; "none" if nothing is proven.
std::string bound(double value);

/// A hyperparameter as it was given, or to four digits if a refinement made it: "0.0001", "31.62".
std::string setting(double value);

/// "1,234,567"
std::string grouped(std::int64_t value);

/// "3.2 s", "12 min", "2 h 5 min"
std::string duration(double seconds);

/// "AWMF, weight decay"; an unknown key is returned unchanged.
std::string model_name(const StudyModel& model);

/// "WMF, rank 10"; full rank has no suffix, because its name says it.
std::string ranked_name(const StudyModel& model);

/// "EDLAE (full rank, dropout), unweighted"
std::string row_name(const StudyModel& model, RowKind kind);

/// The difference from other models of its family, for an axis: "zero diag.", "EDLAE"; "plain" for none.
std::string variant_name(const StudyModel& model);

/// "1. AWMF, weight decay" for the paper's models, else without a number.
std::string numbered_name(const StudyModel& model);

/// Popularity: a row without weights, rank or certificate.
bool is_baseline(const StudyModel& model);

/// "weighted"; empty for the baseline.
std::string kind_name(const StudyModel& model, RowKind kind);

/// "search not complete", "not trained yet"; empty for a finished row.
std::string row_state(const StudyRow& row);

/// "test users" or, if there are none, "validation users": the users of the tables' figures.
std::string users_of(const StudyResults& results);

/// "100", "full"; empty for the baseline.
std::string rank_number(const StudyModel& model);

/// "none", "3"
std::string count_or_none(std::int64_t count);

/// "7/9"; empty if nothing was compared.
std::string wins(int count, int compared);

/// "rank 100", "full rank"
std::string rank_name(const std::optional<std::int64_t>& rank);

/// The same at the beginning of a heading: "Rank 100".
std::string rank_heading(const std::optional<std::int64_t>& rank);

/// "Recall@20" for "recall@20".
std::string metric_name(const std::string& metric);

/// The name of the paper's data set: "ML-20M" for "ml-20m".
std::string paper_data_name(const std::string& data);

}  // namespace poise::report
