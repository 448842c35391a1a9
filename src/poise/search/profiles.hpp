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
  bool beside = false;  ///< the anchor lies on the axis next to the others: a factor of 1, not a slope of 0
  int close = 0;        ///< the node whose weights are nearly none
  std::vector<int> first = {};  ///< the nodes that are looked at in any case
};

/// What is searched by profiles. axes[0] is lambda, axes[1] alpha.
struct ProfileSpace {
  std::vector<Axis> axes;
  std::vector<ProfileKind> kinds;  ///< the unweighted one first
};

/// The kinds that an alpha axis has, given its unweighted value; without one, all of it is weighted.
std::vector<ProfileKind> kinds_of(const Axis& alpha, std::optional<double> unweighted);

/// What is known: the scores of places (lower than any other for one without a model), and the paired
/// standard error of two of them.
struct ProfileScores {
  std::map<Place, double> score;
  std::map<Place, double> cut = {};  ///< whose score is an estimate, with its standard error; never chosen
  std::function<double(const Place&, const Place&)> noise;
};

/// What is known of one kind.
struct Profile {
  bool complete = false;
  std::optional<Place> best;
  bool interior = false;     ///< on no axis that is free the end of what was tried
  std::vector<Place> curve;  ///< the best place for each alpha that was tried, ascending
  std::vector<Place> wanted;
};

/// One Profile for each kind of the space, from nothing but the scores, so that neither the order of points
/// nor the number of processes matters.
///
/// Each kind by itself: for every place in the axes other than lambda that is looked at, the best lambda (a
/// Line that begins where the neighbours' best lambdas point to); then, along each of these axes through the
/// best place, the best of that profile (a Line again). Weighted kinds begin with one point beside the
/// unweighted optimum, and are not done while that is better than they are.
std::vector<Profile> profiles_of(const ProfileSpace& space, const ProfileScores& scores);

/// The next round: what the kinds want, in their order, one line after the other until there are `round_size`
/// points or more. Whole lines, as a line that was begun with fewer points would go on otherwise.
std::vector<Place> next_round(const std::vector<Profile>& profiles);
constexpr std::size_t round_size = 12;

}  // namespace poise
