#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "poise/search/grid.hpp"
#include "poise/search/points.hpp"

namespace poise {

/// The paper's grid; the extended one adds alpha 0.2 and 0.5.
inline const std::vector<double> paper_lambdas = {1e-4, 1e-2, 1, 1e2, 1e4};
inline const std::vector<double> paper_alphas = {1, 2, 5, 10, 20};
inline const std::vector<double> extended_alphas = {0.2, 0.5, 1, 2, 5, 10, 20};

/// How points are chosen: by profiles (search/profiles.hpp), or as a grid that is expanded and refined
/// (search/grid.hpp).
enum class SearchMethod { best, grid };

/// The kind of a point.
RowKind kind_of(const ModelParameters& parameters);

/// The searched space: every axis of the family, over a base that holds the other parameters. An empty axis
/// has the base's value. By profiles the values of an axis bound it, one value fixes it, and lambda and alpha
/// are free if they have none; ranks, schemes and numbers of neighbours are searched one by one.
struct SearchSpace {
  ModelParameters base = {};
  SearchMethod method = SearchMethod::grid;
  std::vector<double> lambda = paper_lambdas;
  std::vector<double> alpha = paper_alphas;
  std::vector<std::int64_t> rank = {};
  std::vector<std::int64_t> neighbours = {};
  std::vector<double> dropout = {};
  std::vector<double> lambda_exponent = {};
  std::vector<double> feature_weight = {};
  std::vector<double> alpha_negative = {};
  std::vector<double> gamma = {};
  std::vector<Scheme> scheme = {};
  /// Axes that are searched by profiles over their default range.
  struct Automatic {
    bool dropout = false;
    bool lambda_exponent = false;
    bool feature_weight = false;
    bool alpha_negative = false;
    bool gamma = false;
  } automatic = {};
  bool expand = true;  ///< for grids, as refine
  int refine = 0;
  std::optional<std::size_t> most_points = {};
  /// Another search has the other diagonal of these full-rank points: a grid then trains both.
  bool both_diagonals = false;
};

/// Throws Error{usage} for values out of range.
void validate(const SearchSpace& space);

/// The points of the grid, before any expansion; by profiles, some of the points that will be tried.
std::vector<ModelParameters> first_points(const SearchSpace& space);

/// The least number of points or, by profiles, the usual one.
std::size_t usual_points(const SearchSpace& space);

/// The ranks, schemes and numbers of neighbours of a space, one ModelParameters each, as they are trained
/// while searching.
std::vector<ModelParameters> discrete_settings(const SearchSpace& space);

/// Error{resources}, before any work, if a point of the grid would not fit with these features of the items.
void check_memory(const SearchSpace& space, const UserRows& X, CsrView features, std::uint64_t memory_limit);

/// The profile of one kind.
struct SearchProfile {
  RowKind kind = RowKind::unweighted;
  bool complete = false;
  bool interior = false;  ///< on no free axis the last value that was tried
  std::optional<ModelParameters> best = {};
  std::vector<ModelParameters> curve = {};  ///< the best point of each alpha, ascending
};

struct SearchResult {
  bool complete = true;                  ///< neither the time nor the points ran out
  std::vector<ModelParameters> points;   ///< all measured points, in the order of the axes
  std::vector<ModelParameters> missing;  ///< the points that would have been tried next
  /// The best of each kind; by profiles the choice of a complete profile.
  std::optional<ModelParameters> unweighted;
  std::optional<ModelParameters> weighted;
  std::optional<ModelParameters> down_weighted;
  std::optional<ModelParameters> best;  ///< of all; none only if no point has a model
  std::vector<SearchProfile> profiles;  ///< by profiles
  /// How many users were scored, over all points, and how many more it would have been without races.
  struct Scorings {
    std::int64_t done = 0;
    std::int64_t spared = 0;
  } scorings = {};
};

/// The member that has the best of a kind.
constexpr std::optional<ModelParameters> SearchResult::*best_of_kind(RowKind kind) {
  if (kind == RowKind::unweighted) return &SearchResult::unweighted;
  return kind == RowKind::weighted ? &SearchResult::weighted : &SearchResult::down_weighted;
}

/// The best of each kind of these measured points; in their order.
SearchResult best_of(const Points& points, std::vector<ModelParameters> measured);

/// The best point of one kind for each alpha, ascending; none without a model.
std::vector<ModelParameters> best_of_each_alpha(const Points& points,
                                                std::span<const ModelParameters> measured, RowKind kind);

/// Whether smaller and larger values than the point's were tried: of lambda at its alpha, and of alpha.
bool lies_inside(std::span<const ModelParameters> measured, const ModelParameters& point);

/// Explores the space. While searching, low-rank models stop at a decrease of 1e-4 a round (by profiles not
/// wmf, nor others once they may be the best of their kind: search/running.hpp), and by profiles full-rank
/// ones at a proof of 1e-4, or 1e-4 / alpha^2 below 1. If the time or
/// the points run out, the result covers the measured points and is not complete.
SearchResult search(Points& points, const SearchSpace& space);
/// Explores spaces of one method, by profiles side by side, so that the two diagonals of full rank share
/// solves. Each result is the same as if its space were searched alone.
std::vector<SearchResult> search(Points& points, std::span<const SearchSpace> spaces);

/// The parameters for training a chosen point: low-rank models to full convergence.
ModelParameters to_convergence(ModelParameters parameters, const SearchSpace& space);

}  // namespace poise
