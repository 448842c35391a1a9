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
  double fine = 0;         ///< the widest gap that is left beside the best
  double finer = 0;        ///< the same of gaps that are looked at more closely
  double may_hide = 4e-4;  ///< a fall from the best to a neighbour behind which nothing that matters can hide
  bool sharp = false;      ///< nodes between the ordinary ones are tried where the score falls steeply
  bool middles = false;    ///< the nodes between the best and the ordinary nodes next to it are always tried
  bool lost = false;       ///< nothing says where the top may be: go on where all is flat
  /// Part of the highest score: how far below this a point lies says nothing about where the top is.
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
  bool narrow = false;      ///< the score falls steeply on either side of what equals the best
  bool interior = false;    ///< a point beyond the best was tried on either side
};

/// What to try next, from nothing but the points that are known, in ascending order of nodes. First three
/// points; where the best lies on an edge a point beyond it, by a parabola's guess or 1.6 times as far;
/// around an interior best the middle of wide gaps, then the top of the parabola through it and its
/// neighbours. The line is done when what the parabola still promises is less than a quarter of the paired
/// standard error, or when it cannot come near its rivals. Nodes between
/// the ordinary ones are tried beside a best point whose neighbours fall steeply, where the gap between them
/// may rise above the rivals: low-rank models whose lambda kills directions have a ridge that is a twentieth
/// wide. Past an edge that is flat to that measure nothing is sought: plateaus are dead models more often
/// than not.
LineAdvice advise(const Line& line, const std::vector<LinePoint>& points);

}  // namespace poise
