#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "poise/search/grid.hpp"
#include "poise/search/points.hpp"

namespace poise {

/// The paper's grid, and alpha 0.2 and 0.5 beside it in the extended one.
inline const std::vector<double> paper_lambdas = {1e-4, 1e-2, 1, 1e2, 1e4};
inline const std::vector<double> paper_alphas = {1, 2, 5, 10, 20};
inline const std::vector<double> extended_alphas = {0.2, 0.5, 1, 2, 5, 10, 20};

/// What is searched: every axis that the family has, over a base that holds the rest. An empty axis is the
/// base's value.
struct SearchSpace {
  ModelParameters base = {};
  std::vector<double> lambda = paper_lambdas;
  std::vector<double> alpha = paper_alphas;
  std::vector<std::int64_t> rank = {};
  std::vector<double> dropout = {};
  std::vector<double> lambda_exponent = {};
  std::vector<Scheme> scheme = {};
  bool expand = true;
  int refine = 0;
  /// Full-rank points bring the model with the other diagonal along, for a search over that.
  bool both_diagonals = false;
};

/// Throws Error{usage} for values out of range.
void validate(const SearchSpace& space);

/// The points of the grid, before any expansion.
std::vector<ModelParameters> first_points(const SearchSpace& space);

/// Error{resources}, before any work, when a point of the grid would not fit.
void check_memory(const SearchSpace& space, CsrView X, std::uint64_t memory_limit);

struct SearchResult {
  std::vector<ModelParameters> points;  ///< all that were measured, in the order of the axes
  std::optional<ModelParameters> unweighted;
  std::optional<ModelParameters> weighted;
  std::optional<ModelParameters> down_weighted;
  std::optional<ModelParameters> best;  ///< of all; none only where no point has a model
};

/// Explores the space (search/grid.hpp). While searching, low-rank models stop at a decrease of 1e-4 a round.
SearchResult search(Points& points, const SearchSpace& space);

/// A searched point as it is trained once it is chosen: low-rank models to full convergence.
ModelParameters to_convergence(ModelParameters parameters, const SearchSpace& space);

}  // namespace poise
