#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "poise/study/results.hpp"

/// How numbers and names of a study read, the same in every kind of report.
namespace poise::report {

/// "0.376": accuracies and their standard errors have three decimals, as in the paper.
std::string accuracy(double value);

/// What a reader sees of an accuracy, as a number: comparisons of accuracies are of these.
double as_printed(double value);

/// "+0.0042"
std::string difference(double value);

/// "0.012", "< 0.001"
std::string p_value(double p);

/// "p = 0.012", "p < 0.001"
std::string p_text(double p);

/// Where a paired test finds a difference.
constexpr double significant = 0.05;

/// What a difference says where it is measurable: 1 better, -1 worse, 0 neither.
int direction(const PairedDifference& test);
/// The same of a pair; 0 where a search is not complete, for it may then be one of tuning.
int direction(const StudyPair& pair);

/// "3.2e-7", for certificates; "none" for one that proves nothing.
std::string bound(double value);

/// A hyperparameter as it was given, or to four digits where a grid between the given ones made it: "0.0001",
/// "31.62".
std::string setting(double value);

/// "1,234,567"
std::string grouped(std::int64_t value);

/// "3.2 s", "12 min", "2 h 5 min"
std::string duration(double seconds);

/// "AWMF, weight decay"; a key that is not known reads as it is.
std::string model_name(const StudyModel& model);

/// "WMF, rank 10"; none of full rank, which its name says.
std::string ranked_name(const StudyModel& model);

/// "EDLAE (full rank, dropout), unweighted"
std::string row_name(const StudyModel& model, RowKind kind);

/// What sets it apart from others of its family, for an axis: "zero diag.", "EDLAE"; "plain" for nothing.
std::string variant_name(const StudyModel& model);

/// "1. AWMF, weight decay" for the paper's models, else without a number.
std::string numbered_name(const StudyModel& model);

/// Popularity: a row without weights, rank or certificate.
bool is_baseline(const StudyModel& model);

/// "weighted"; empty for the baseline.
std::string kind_name(const StudyModel& model, RowKind kind);

/// "search not complete", "not trained yet"; empty for a row of which nothing is missing.
std::string row_state(const StudyRow& row);

/// "test users", or, where there are none, "validation users": whose figures the tables have.
std::string users_of(const StudyResults& results);

/// "100", "full"; empty for the baseline.
std::string rank_number(const StudyModel& model);

/// "none", "3"
std::string count_or_none(std::int64_t count);

/// "7/9"; empty where nothing was compared.
std::string wins(int count, int compared);

/// "rank 100", "full rank"
std::string rank_name(const std::optional<std::int64_t>& rank);

/// The same as a heading begins: "Rank 100".
std::string rank_heading(const std::optional<std::int64_t>& rank);

/// "Recall@20" for "recall@20".
std::string metric_name(const std::string& metric);

/// How the paper's data set is called: "ML-20M" for "ml-20m".
std::string paper_data_name(const std::string& data);

}  // namespace poise::report
