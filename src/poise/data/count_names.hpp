#pragma once

#include <array>
#include <utility>

#include "poise/data/dataset.hpp"

namespace poise {

using CountName = std::pair<const char*, std::int64_t PrepareCounts::*>;

/// The counts of `prepare` by their names in files and JSON: those of reading a log, those of filters, then
/// those of dislikes.
inline constexpr std::array<CountName, 5> read_counts = {
    {{"duplicates", &PrepareCounts::duplicates},
     {"empty_ids", &PrepareCounts::empty_ids},
     {"below_threshold", &PrepareCounts::below_threshold},
     {"outside_catalogue", &PrepareCounts::outside_catalogue},
     {"skipped_lines", &PrepareCounts::skipped_lines}}};
inline constexpr std::array<CountName, 3> filter_counts = {
    {{"filtered_users", &PrepareCounts::filtered_users},
     {"filtered_items", &PrepareCounts::filtered_items},
     {"filtered_interactions", &PrepareCounts::filtered_interactions}}};
/// Only of the splits `time`, `last` and `cold_items`.
inline constexpr std::array<CountName, 5> time_counts = {
    {{"unknown_users", &PrepareCounts::unknown_users},
     {"unknown_items", &PrepareCounts::unknown_items},
     {"unknown_interactions", &PrepareCounts::unknown_interactions},
     {"repeats", &PrepareCounts::repeats},
     {"after_test", &PrepareCounts::after_test}}};

/// Only of data with item features.
inline constexpr std::array<CountName, 3> feature_counts = {
    {{"unknown_feature_items", &PrepareCounts::unknown_feature_items},
     {"duplicate_features", &PrepareCounts::duplicate_features},
     {"rare_features", &PrepareCounts::rare_features}}};

constexpr bool is_in_time(SplitKind split) { return split == SplitKind::time || split == SplitKind::last; }
/// Whether the parts have the same users: a later part has what its users had in those before it.
constexpr bool shares_users(SplitKind split) { return is_in_time(split) || split == SplitKind::cold_items; }

inline constexpr std::array<CountName, 2> dislike_counts = {
    {{"dropped_dislikes", &PrepareCounts::dropped_dislikes},
     {"disliked_targets", &PrepareCounts::disliked_targets}}};

}  // namespace poise
