#pragma once

#include <map>
#include <optional>
#include <vector>

#include "poise/search/line.hpp"
#include "poise/search/profiles.hpp"

namespace poise {

constexpr int lambda_axis_index = 0;
constexpr int alpha_axis_index = 1;

/// A place without its lambda.
using Outer = std::vector<int>;

Outer outer_of(const Place& place);
Place place_of(int lambda, const Outer& outer);

/// The best lambda of a line as a position, and its score.
struct Ridge {
  double at;  ///< the line's position on the axis that it is compared along
  double lambda;
  Place best;
  double score;
};

/// The points of one kind as lines over lambda, one for each place in the other axes, and the ridge that
/// their best lambdas make along such an axis.
class LambdaLines {
 public:
  /// `anchored`: the kind's unweighted models are searched, and it is known from them where to look.
  LambdaLines(const ProfileSpace& space, const ProfileScores& scores, const ProfileKind& kind, bool anchored);

  [[nodiscard]] const std::map<Outer, std::vector<LinePoint>>& all() const { return lines_; }
  [[nodiscard]] const std::optional<Place>& best() const { return best_; }
  [[nodiscard]] double best_score() const { return best_score_; }
  [[nodiscard]] double noise(const Place& a, const Place& b) const;
  /// Once it is known where to look, nothing is read out of what lies far below: the part of a top that
  /// counts.
  [[nodiscard]] double depth() const;

  /// Whether the best line, or the unweighted one, was followed to nodes between the ordinary ones: the ridge
  /// is narrow.
  [[nodiscard]] bool sharp() const;

  /// What to try next on the line of a place that has these points.
  [[nodiscard]] LineAdvice advise_lambda(const Outer& outer, const std::vector<LinePoint>& points) const;
  /// The same of a line without points: `lost` where nothing says that its best lambda is near `start`.
  [[nodiscard]] LineAdvice begin_at(const Outer& outer, int start, bool lost) const;

  /// The lines that differ from `here` on axis k alone, with the unweighted one beside them if there is one;
  /// `looks`: also those of a single point.
  [[nodiscard]] std::map<int, Ridge> ridge_along(int k, const Outer& here, bool looks) const;
  /// The node where those on axis k through `from` say that the best lambda of `outer` will be.
  [[nodiscard]] int expected_lambda(const Outer& outer, const Outer& from, int k) const;

  /// The best place for each alpha, ascending.
  [[nodiscard]] std::vector<Place> curve() const;

 private:
  [[nodiscard]] const Axis& axis(int k) const { return space_.axes[k]; }
  [[nodiscard]] Line line_of(const Outer& outer, int start, bool lost) const;
  /// Whether so many points of the kind were tried that looking more closely at lambda would follow chance.
  [[nodiscard]] bool looked_closely() const;
  [[nodiscard]] bool next_to_unweighted(const Outer& outer) const;
  [[nodiscard]] Ridge ridge_of(const Outer& outer, const std::vector<LinePoint>& points, int k) const;
  [[nodiscard]] double flank_of(const std::vector<LinePoint>& points) const;
  [[nodiscard]] int known_lambda(const Outer& outer) const;

  const ProfileSpace& space_;
  const ProfileScores& scores_;
  const ProfileKind& kind_;
  bool anchored_;
  std::map<Outer, std::vector<LinePoint>> lines_;
  std::map<Outer, std::vector<LinePoint>> unweighted_;  ///< the same of the unweighted models, if anchored
  std::optional<Place> best_;
  double best_score_;
};

}  // namespace poise
