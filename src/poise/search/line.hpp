#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "poise/search/axis.hpp"

namespace poise {

/// The score at a node of an axis; all other axes are fixed or at their best.
struct LinePoint {
  int node = 0;
  double score = 0;
};

/// The search for the highest score along one axis.
struct Line {
  const Axis* axis = nullptr;
  int low = 0;  ///< the nodes that may be tried
  int high = 0;
  int start = 0;
  int step = 1;
  double fine = 0;   ///< the widest gap that may remain beside the best
  double finer = 0;  ///< the same for undecided gaps
  double may_hide =
      4e-4;           ///< if a neighbour is lower by less than this, nothing that matters is hidden between
  bool lost = false;  ///< no information about where the top is: continue on flat ground
  /// As a share of the highest score: points further below the top than this all count alike.
  double depth = std::numeric_limits<double>::infinity();
  double rival = -std::numeric_limits<double>::infinity();  ///< the highest score of other lines
  /// Whether a gap beside the best is searched to `finer`; if not set, gaps that may hide more than a few
  /// ten-thousandths are.
  std::function<bool(int best, int beside)> undecided = {};
  std::function<double(int a, int b)> noise;  ///< the paired standard error of the scores at two nodes
};

struct LineAdvice {
  std::vector<int> wanted;  ///< what to try next; empty: the line is done
  int best = 0;             ///< the node to choose
  double top = 0;           ///< the top of the parabola through the best three, as a position
  bool interior = false;    ///< a point beyond the best was tried on either side
};

/// What to try next, from the known points alone, in ascending order of nodes. First three points. If the
/// best lies on an edge, a point beyond it, by a parabola's prediction or 1.6 times as far; around an
/// interior best the middle of wide gaps, then the top of the parabola through it and its neighbours. The
/// line is done when the gain that the parabola still promises is less than a quarter of the paired standard
/// error, or when the line cannot reach its rivals. The search does not go past an edge that is flat to
/// within that measure: plateaus are mostly models without live directions.
LineAdvice advise(const Line& line, const std::vector<LinePoint>& points);

}  // namespace poise
