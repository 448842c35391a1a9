#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "poise/search/axis.hpp"
#include "poise/search/grid.hpp"

namespace poise {

/// A node of every axis: lambda, alpha, then the others.
using Place = std::vector<int>;

/// A kind of points: those whose alpha lies between two nodes.
struct ProfileKind {
  RowKind kind = RowKind::unweighted;
  int low = 0;
  int high = 0;
  std::optional<int> anchor = {};  ///< the node of the unweighted models, which are searched first
  bool beside = false;  ///< the anchor is next to the others on the axis: a factor of 1, not a slope of 0
  int close = 0;        ///< the node with almost no weights
  std::vector<int> first = {};  ///< the nodes that are always tried
};

/// The space of a search by profiles. axes[0] is lambda, axes[1] alpha.
struct ProfileSpace {
  std::vector<Axis> axes;
  std::vector<ProfileKind> kinds;  ///< the unweighted one first
};

/// The kinds of an alpha axis, given its unweighted value; without one, all of it is weighted.
std::vector<ProfileKind> kinds_of(const Axis& alpha, std::optional<double> unweighted);

/// The known scores of places (lower than any other for a place without a model), and the paired standard
/// error of two of them.
struct ProfileScores {
  std::map<Place, double> score;
  std::map<Place, double> cut =
      {};  ///< places whose score is an estimate, with its standard error; never chosen
  std::function<double(const Place&, const Place&)> noise;
};

/// The state of one kind.
struct Profile {
  bool complete = false;
  std::optional<Place> best;
  bool interior = false;     ///< on no free axis the last value that was tried
  std::vector<Place> curve;  ///< the best place for each alpha that was tried, ascending
  std::vector<Place> wanted;
};

/// One Profile for each kind of the space, from the scores alone, so that neither the order of points nor the
/// number of processes matters.
///
/// Separately for each kind: for every tried place in the axes other than lambda, the best lambda (a Line
/// that begins where the neighbours' best lambdas suggest); then, along each of these axes through the best
/// place, the best of that profile (a Line again). Weighted kinds begin with one point beside the unweighted
/// optimum, and are not done while that point is better than their best.
std::vector<Profile> profiles_of(const ProfileSpace& space, const ProfileScores& scores);

/// The next round: the points that the kinds want, in their order, one line after the other until there are
/// `round_size` points or more. Lines are not divided, because a line begun with fewer points would continue
/// differently.
std::vector<Place> next_round(const std::vector<Profile>& profiles);
constexpr std::size_t round_size = 12;

}  // namespace poise
