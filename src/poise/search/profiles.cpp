#include "poise/search/profiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "poise/search/lambda_lines.hpp"

namespace poise {
namespace {

/// A paired standard error above which scores scatter so much that an alpha as good as the best may hide one
/// that is better between them.
constexpr double few_users = 5e-4;
/// Where the weighted kinds are looked at first, in decades of alpha from 1: close by, and so far that a top
/// in between or beyond shows.
constexpr double close_by = 0.04;
constexpr std::array<double, 2> first_distances = {0.33, 0.83};
/// The same of slopes.
constexpr double close_slope = 0.01;
constexpr std::array<double, 2> first_slopes = {1, 0.2};

class KindSearch {
 public:
  KindSearch(const ProfileSpace& space, const ProfileScores& scores, const ProfileKind& kind,
             const Profile* unweighted)
      : space_(space),
        scores_(scores),
        kind_(kind),
        unweighted_(unweighted),
        lines_(space, scores, kind, anchored()) {}

  Profile run() {
    Profile profile;
    profile.curve = lines_.curve();
    profile.best = lines_.best();
    if (anchored() && !unweighted_->complete) return profile;
    if (lines_.all().empty()) {
      begin();
    } else if (lines_.best()) {
      follow(profile);
    } else {
      // No model so far.
      for (const auto& [outer, points] : lines_.all()) want(outer, lines_.advise_lambda(outer, points));
    }
    profile.wanted = std::move(wanted_);
    profile.complete = profile.wanted.empty();
    return profile;
  }

 private:
  [[nodiscard]] bool anchored() const { return kind_.anchor && unweighted_ != nullptr; }
  [[nodiscard]] const Axis& axis(int k) const { return space_.axes[k]; }
  [[nodiscard]] int axes() const { return static_cast<int>(space_.axes.size()); }

  void begin() {
    if (anchored() && unweighted_->best) {
      // What it falls back on.
      Place place = *unweighted_->best;
      place[alpha_axis_index] = kind_.close;
      wanted_.push_back(place);
      Outer outer = outer_of(place);
      outer[0] = kind_.first.front();
      if (place[alpha_axis_index] != outer[0]) begin_line(outer, outer_of(*unweighted_->best));
      return;
    }
    Outer outer;
    for (int k = 1; k < axes(); ++k) outer.push_back(axis(k).start);
    outer[0] = std::clamp(outer[0], kind_.low, kind_.high);
    want(outer, lines_.begin_at(outer, axis(0).start, true));
  }

  void want(const Outer& outer, const LineAdvice& advice) {
    for (const int node : advice.wanted) wanted_.push_back(place_of(node, outer));
  }

  void follow(Profile& profile) {
    const Outer here = outer_of(*lines_.best());
    LineAdvice of_lambda;
    for (const auto& [outer, points] : lines_.all()) {
      // A single point is a look, and not yet a line.
      if (points.size() == 1 && outer != here) continue;
      const LineAdvice advice = lines_.advise_lambda(outer, points);
      if (outer == here) of_lambda = advice;
      want(outer, advice);
    }
    if (const Place chosen = place_of(of_lambda.best, here); !scores_.cut.contains(chosen))
      profile.best = chosen;
    if (!wanted_.empty()) return;
    narrow_ = of_lambda.narrow;
    profile.interior = of_lambda.interior || axis(0).nodes() == 1;
    for (int k = 1; k < axes() && wanted_.empty(); ++k) {
      const bool inside = follow_axis(k, here);
      profile.interior = profile.interior && inside;
    }
    if (wanted_.empty()) check_against_unweighted();
  }

  /// Looks along an axis through the best place; whether that lies inside of what was tried there.
  bool follow_axis(int k, const Outer& here) {
    const bool alpha = k == alpha_axis_index;
    Line line{.axis = &axis(k),
              .low = alpha ? kind_.low : 0,
              .high = alpha ? kind_.high : axis(k).nodes() - 1,
              .start = here[k - 1],
              .step = axis(k).step,
              .fine = axis(k).fine,
              .finer = axis(k).fine,
              .lost = false,
              .depth = lines_.depth(),
              .noise = {}};
    if (line.low == line.high) return true;
    const std::map<int, Ridge> ridge = lines_.ridge_along(k, here, true);
    if (alpha && anchored()) {
      if (kind_.beside) {
        line.low = std::min(line.low, *kind_.anchor);
        line.high = std::max(line.high, *kind_.anchor);
      }
      for (const int node : kind_.first) {
        if (!ridge.contains(node) && wanted_.empty()) begin_on_axis(k, here, node);
      }
      if (!wanted_.empty()) return true;
    }
    line.noise = [&](int a, int b) { return lines_.noise(ridge.at(a).best, ridge.at(b).best); };
    if (alpha) {
      line.finer = line.fine / 2;
      line.middles = narrow_;
      line.undecided = [&](int best, int beside) {
        const double error = line.noise(best, beside);
        // Alphas whose lambdas lie beside a narrow ridge look worse than they are.
        return lines_.sharp() || (error > few_users && ridge.at(best).score - ridge.at(beside).score < error);
      };
    }
    std::vector<LinePoint> points;
    points.reserve(ridge.size());
    for (const auto& [node, found] : ridge) points.push_back({node, found.score});
    const LineAdvice advice = advise(line, points);
    for (const int node : advice.wanted) begin_on_axis(k, here, node);
    return advice.interior || (alpha && anchored() && advice.best == *kind_.anchor);
  }

  void begin_on_axis(int k, Outer outer, int node) {
    const Outer here = outer;
    outer[k - 1] = node;
    // The unweighted models, and the node between them and the least weights, belong to no weighted kind.
    if (k == alpha_axis_index && (node < kind_.low || node > kind_.high)) return;
    begin_line(outer, here, k);
  }

  /// Begins a line where those on the axis through `from` say that the best lambda will be.
  void begin_line(const Outer& outer, const Outer& from, int k = alpha_axis_index) {
    want(outer, lines_.begin_at(outer, lines_.expected_lambda(outer, from, k), false));
  }

  /// Weights next to 1 are nearly none: what is worse than no weights was not searched well enough.
  void check_against_unweighted() {
    if (!anchored() || !unweighted_->best || !lines_.best()) return;
    const Place& beside = *unweighted_->best;
    const double missing = scores_.score.at(beside) - lines_.best_score();
    if (missing <= lines_.noise(beside, *lines_.best()) / 4) return;
    const bool above = kind_.low > *kind_.anchor;
    Place closest = beside;
    closest[alpha_axis_index] = above ? kind_.low : kind_.high;
    if (!scores_.score.contains(closest)) wanted_.push_back(closest);
  }

  const ProfileSpace& space_;
  const ProfileScores& scores_;
  const ProfileKind& kind_;
  const Profile* unweighted_;
  LambdaLines lines_;
  std::vector<Place> wanted_;
  bool narrow_ = false;  ///< the best line of lambda
};

}  // namespace

std::vector<ProfileKind> kinds_of(const Axis& alpha, std::optional<double> unweighted) {
  const int last = alpha.nodes() - 1;
  if (!unweighted) return {{.kind = RowKind::weighted, .low = 0, .high = last}};
  std::vector<ProfileKind> kinds;
  const auto found = std::ranges::find(alpha.value, *unweighted);
  std::optional<int> anchor;
  if (found != alpha.value.end()) {
    anchor = static_cast<int>(found - alpha.value.begin());
    kinds.push_back({.kind = RowKind::unweighted, .low = *anchor, .high = *anchor});
  }
  const bool slope = *unweighted == 0;
  const auto put = [&](RowKind row, int low, int high, double side) {
    if (low > high) return;
    ProfileKind kind{.kind = row, .low = low, .high = high, .anchor = anchor, .beside = !slope};
    const auto node = [&](double at) { return std::clamp(alpha.nearest(at), low, high); };
    kind.close = node(slope ? std::log10(close_slope) : side * close_by);
    for (const double each : slope ? first_slopes : first_distances)
      kind.first.push_back(node(slope ? std::log10(each) : side * each));
    kinds.push_back(kind);
  };
  const auto index = [&](auto bound) { return static_cast<int>(bound - alpha.value.begin()); };
  // The ends are ordinary nodes.
  const auto ordinary_from = [&](int node) {
    return (node + alpha.stride - 1) / alpha.stride * alpha.stride;
  };
  put(RowKind::weighted, ordinary_from(index(std::ranges::upper_bound(alpha.value, *unweighted))), last, 1);
  put(RowKind::down_weighted, 0,
      ordinary_from(index(std::ranges::lower_bound(alpha.value, *unweighted))) - alpha.stride, -1);
  return kinds;
}

std::vector<Profile> profiles_of(const ProfileSpace& space, const ProfileScores& scores) {
  std::vector<Profile> profiles;
  const bool has_unweighted = space.kinds.front().kind == RowKind::unweighted;
  for (const ProfileKind& kind : space.kinds) {
    const Profile* const unweighted = has_unweighted && !profiles.empty() ? &profiles.front() : nullptr;
    profiles.push_back(KindSearch(space, scores, kind, unweighted).run());
  }
  return profiles;
}

std::vector<Place> next_round(const std::vector<Profile>& profiles) {
  std::vector<Place> round;
  for (const Profile& profile : profiles) {
    for (std::size_t k = 0; k < profile.wanted.size(); ++k) {
      const Place& place = profile.wanted[k];
      const bool new_line = k == 0 || outer_of(place) != outer_of(profile.wanted[k - 1]);
      if (new_line && round.size() >= round_size) return round;
      round.push_back(place);
    }
  }
  return round;
}

}  // namespace poise
