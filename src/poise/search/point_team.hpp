#pragma once

#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "poise/comm/processes.hpp"
#include "poise/search/point_message.hpp"

namespace poise {

/// Answers a message that is not about points.
using OtherWork = std::function<std::string(const std::string& message)>;

/// Points of a search, trained by several processes. The first one hands them out, group by group, to whoever
/// has nothing to do, and trains groups itself on a thread of its own; it alone decides what comes next and
/// keeps the journal. The points of one lambda share an inverse, and one process trains them. A point's
/// result does not depend on who trains it (docs/design/point-alone.md), and rounds end before the next is
/// planned, so that the search is that of one process.
///
/// The other processes call serve_points() on the same data while this object exists.
class PointTeam {
 public:
  /// For the first process. `own` trains its part, without a journal, and must outlive this.
  PointTeam(Processes& processes, Points& own) : processes_(processes), own_(own) {}
  PointTeam(const PointTeam&) = delete;
  PointTeam& operator=(const PointTeam&) = delete;
  /// Ends serve_points() of the others.
  ~PointTeam();

  /// These points, in groups: those that share an inverse, and for wmf, which has none, each point alone.
  [[nodiscard]] static std::vector<PointGroup> groups_of(const std::vector<ModelParameters>& points,
                                                         const Racing& racing, Diagonals diagonals);

  /// Trains all groups in this order, or as many as can be begun before `until`; calls `done` with the index
  /// of a group and its answer, in this thread, as soon as there is one. Groups that were not begun have all
  /// of their points left.
  void train(std::vector<PointGroup> groups, std::optional<Points::Clock::time_point> until,
             const std::function<void(std::size_t group, PointAnswer answer)>& done);

  /// Other work of the others' serve_points(), and of `own` here: hands out these messages in this order, as
  /// many as can be begun before `until`, and calls `done` with the index and the answer of each, in this
  /// thread.
  void each(const std::vector<std::string>& messages, std::optional<Points::Clock::time_point> until,
            const OtherWork& own, const std::function<void(std::size_t message, std::string answer)>& done);

  /// Frees the models of cut points in all processes.
  void drop_models();

  [[nodiscard]] int size() const { return processes_.size(); }

 private:
  Processes& processes_;
  Points& own_;
  std::map<std::string, int> trained_by_;  ///< the rank that had a group last: it may still hold its models
};

/// For the processes other than the first: trains with `points`, which have no journal, what the first one
/// hands out, until its PointTeam is gone.
void serve_points(Processes& processes, Points& points, const OtherWork& other = {});

}  // namespace poise
