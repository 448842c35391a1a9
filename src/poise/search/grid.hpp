#pragma once

#include <compare>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace poise {

/// unweighted: W = 1. weighted: alpha > 1, or a scheme whose weights vary. down_weighted: a constant
/// alpha < 1.
enum class RowKind { unweighted, weighted, down_weighted };

/// "unweighted", "weighted", "down-weighted".
std::string_view to_string(RowKind kind);

/// A point of a search: one of the settings (rank, dropout, ...), a lambda and an alpha.
struct GridPoint {
  std::size_t setting = 0;
  double lambda = 0;
  double alpha = 0;
  auto operator<=>(const GridPoint&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct Grid {
  std::size_t settings = 1;
  std::vector<double> lambda;  ///< ascending
  std::vector<double> alpha;   ///< ascending
  bool expand = true;
  int refine = 0;  ///< how often the spacing around an optimum is halved
};

/// What a search needs: to measure points (in any order, because their scores depend on nothing else), and to
/// look up the score of one.
struct Surface {
  std::function<void(std::span<const GridPoint>)> measure;
  std::function<double(const GridPoint&)> score;
  std::function<RowKind(const GridPoint&)> kind;
};

/// The best point of one kind; ties go to the first in the order of GridPoint.
struct Best {
  GridPoint point;
  double score = 0;
};

struct Explored {
  std::vector<GridPoint> points;  ///< all that were measured, ascending
  std::optional<Best> unweighted;
  std::optional<Best> weighted;
  std::optional<Best> down_weighted;
};

/// The search of math.md section 5, separately for every kind. First the grid. If the best lies on an edge,
/// the grid is extended there, with all alphas (or lambdas) of the kind at the best's setting: lambda both
/// ways by the grid's own factor at that edge, alpha upward by doubling; until the best improves by less than
/// 1e-5, at most 4 steps per edge; an axis with one value is not extended. Then `refine` refinements: lambda
/// and then alpha at the geometric means of the best and its neighbours, three digits.
Explored explore(const Grid& grid, const Surface& surface);

/// The points of the grid itself that explore() starts with.
std::vector<GridPoint> grid_points(const Grid& grid);

}  // namespace poise
