#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poise/search/search.hpp"
#include "poise/study/results.hpp"

namespace poise {

/// A kind of model that a study compares with and without weights: a row pair of the paper's tables.
struct StudiedKind {
  std::string key;   ///< StudyModel::key
  std::string name;  ///< what --models calls it
  bool zero_diagonal = false;
  bool low_rank = false;
  bool in_all = true;  ///< whether --models all has it
};

/// In the order of the paper's tables: its models 1 to 5, then zero diagonal and EDLAE; last, those that are
/// studied only where they are named, so that "all" stays what it was: a popularity-dependent lambda.
const std::vector<StudiedKind>& studied_kinds();

/// Those of --models all.
std::vector<StudiedKind> kinds_of_all();

/// The kind of this name; null where there is none.
const StudiedKind* find_kind(std::string_view name);

/// What parse_kinds takes in its list: "all", the names, the paper's numbers.
std::vector<std::string> kind_names();

/// "all", or a list of names or of the paper's numbers ("1,3,full-rank,ease"); Error{usage} for anything
/// else.
std::vector<StudiedKind> parse_kinds(std::string_view text);

/// What is searched for a kind: its family and regularizer over the given base, and the axes it has; by
/// profiles these are ranges.
SearchSpace space_of(const StudiedKind& kind, std::optional<std::int64_t> rank, const ModelParameters& base,
                     SearchMethod method = SearchMethod::grid);

}  // namespace poise
