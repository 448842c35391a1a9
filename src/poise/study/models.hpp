#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poise/model/family.hpp"
#include "poise/search/search.hpp"
#include "poise/study/results.hpp"

namespace poise {

/// The kinds that a study can compare with and without weights, in the order of the paper's tables. Those
/// with a popularity-dependent lambda come last; a study has them only if they are named, not with "all".
const std::vector<ModelKind>& studied_kinds();

/// The kinds of --models all.
std::vector<ModelKind> kinds_of_all();

/// The kind of this name; null if there is none.
const ModelKind* find_kind(std::string_view name);

/// What parse_kinds accepts in its list: "all", the names, the paper's numbers.
std::vector<std::string> kind_names();
/// Each name, with the paper's number if it has one: "wmf (2)".
std::vector<std::string> numbered_names(std::span<const ModelKind> kinds);

/// "all", or a list of names or of the paper's numbers ("1,3,full-rank,ease"); Error{usage} for anything
/// else.
std::vector<ModelKind> parse_kinds(std::string_view text);

/// The search space of a kind: its family and fixed parameters over the given base, and its axes; by profiles
/// these are ranges.
SearchSpace space_of(const ModelKind& kind, std::optional<std::int64_t> rank, const ModelParameters& base,
                     SearchMethod method = SearchMethod::grid);

}  // namespace poise
