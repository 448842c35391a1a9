#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "poise/search/best_settings.hpp"
#include "poise/search/points.hpp"
#include "poise/search/profiles.hpp"

namespace poise {

/// The search of one setting, from complete rounds alone.
///
/// Models that alternate stop early while they are searched for, which moves their scores by as much as
/// neighbouring points differ. So a kind ends with models that are trained to convergence: once its profile
/// is complete, the places that may be its best are trained again, and those that it wants from then on are
/// trained so at once, until the profile is complete with a converged best.
struct Running {
  BestSetting setting;
  ModelParameters trained;  ///< as a chosen point is trained
  ProfileScores scores = {};
  std::map<Place, std::int64_t> scored = {};  ///< users, of what was cut
  std::vector<Profile> profiles = {};
  std::set<RowKind> ending = {};       ///< kinds whose profile was complete once
  std::set<Place> converged = {};      ///< trained to convergence
  std::map<Place, double> early = {};  ///< what these scored when they stopped early, where they did

  [[nodiscard]] ModelParameters at(const Place& place) const;
  [[nodiscard]] RowKind kind_of(const Place& place) const;
  /// Whether this place is trained to convergence from the start.
  [[nodiscard]] bool begins_converged(const Place& place) const;
  /// What may be the best of a profile that is complete with these scores, but stopped early: kind by kind.
  [[nodiscard]] std::vector<std::vector<Place>> may_be_best(const std::vector<Profile>& found,
                                                            const ProfileScores& with) const;
  /// The same of all kinds as they are, which end from now on.
  std::vector<Place> to_converge();
  /// The race of a place against the best of its kind in the rounds before, with what is known next to it.
  [[nodiscard]] std::optional<Race> race(const Points& points, const Place& runner, std::int64_t least) const;

 private:
  [[nodiscard]] bool stops_early(const Place& place) const;
  /// Along all axes together.
  [[nodiscard]] double distance(const Place& a, const Place& b) const;
};

}  // namespace poise
