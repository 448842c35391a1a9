#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/search/held_scorings.hpp"
#include "poise/search/journal.hpp"
#include "poise/search/point_result.hpp"
#include "poise/search/scoring.hpp"

namespace poise {

/// The measurements of each point.
struct MeasureOptions {
  std::vector<Metric> metrics = EvaluateOptions{}.metrics;
  Metric choice = {MetricKind::ndcg, 100};  ///< the metric that chooses; it is measured too
  RecallDenominator denominator = RecallDenominator::min;
  bool race = true;         ///< by profiles: stop scoring a point that is far behind
  bool cold_items = false;  ///< see EvaluateOptions; Points sets it to what the data's split is

  /// The metrics, and the choice if it is not among them.
  [[nodiscard]] EvaluateOptions evaluation() const;
};

/// The first line of a journal: what every entry depends on besides its own key.
Journal::Json journal_header(const MeasureOptions& options, std::uint64_t memory_limit,
                             const Backend& backend);

/// The race of a point, which depends on that point alone; none: it is scored on all users.
using Racing = std::function<std::optional<Race>(const ModelParameters& point)>;

/// For full rank: train the requested diagonals, both in one solve if both are requested; or always both.
enum class Diagonals { as_asked, both };

/// An observer of a search.
struct PointWatcher {
  /// Called after each point that was trained and scored for the first time: its result, how many of the
  /// requested points are left, and their expected seconds.
  std::function<void(const PointResult& result, std::size_t left, double seconds)> trained;
};

class PointTeam;

/// Points by their parameters: trained at the first request, or read from the journal. A result depends on
/// the data and the point alone.
class Points {
 public:
  /// `until`: no point is begun after this time of the steady clock.
  using Clock = std::chrono::steady_clock;
  Points(Trainer& trainer, MeasureOptions options, Journal* journal, Execution execution,
         PointWatcher watcher = {}, std::optional<Clock::time_point> until = {});

  /// Trains the unknown ones, in the order that shares most. A point that loses its race is not scored to the
  /// end. Returns the points that were left when the time was up.
  std::vector<ModelParameters> measure(std::vector<ModelParameters> points,
                                       Diagonals diagonals = Diagonals::as_asked, const Racing& racing = {});
  /// Null if it was neither trained nor read.
  [[nodiscard]] const PointResult* find(const ModelParameters& parameters) const;
  [[nodiscard]] const PointResult& at(const ModelParameters& parameters) const;

  /// The standing of a measured point when it lost a race, even if it was scored on all users; none if it did
  /// not lose.
  [[nodiscard]] std::optional<Standing> lost(const ModelParameters& parameters,
                                             const std::optional<Race>& race) const;
  /// A point as a rival in races; none unless it was scored on all users.
  [[nodiscard]] std::optional<Rival> rival(const ModelParameters& parameters) const;
  /// How many users there are to score.
  [[nodiscard]] std::int64_t users() const { return users_.count; }

  /// Frees the models of points that were cut.
  void drop_models();

  /// From now on these processes train the points together (search/point_team.hpp); null: this one alone.
  void share_with(PointTeam* team) { team_ = team; }
  /// No point is begun after this time.
  void end_at(std::optional<Clock::time_point> until) { until_ = until; }

  /// All that were trained or read, in the order of their names.
  [[nodiscard]] std::vector<ModelParameters> measured() const;

  /// The standard error of the difference of two measured points, user by user, on the metric that chooses,
  /// from at most so many of the sampled users.
  [[nodiscard]] double paired_error(const ModelParameters& a, const ModelParameters& b,
                                    std::size_t most = std::numeric_limits<std::size_t>::max()) const;

  /// Expected seconds of these points.
  [[nodiscard]] double expected_seconds(std::span<const ModelParameters> points);
  /// The time of the points so far, as a multiple of the expected time.
  [[nodiscard]] double pace() const { return expected_ > 0 ? taken_ / expected_ : 1; }
  [[nodiscard]] const MeasureOptions& options() const { return options_; }
  [[nodiscard]] Trainer& trainer() const { return trainer_; }
  /// The key of a point in the journal.
  [[nodiscard]] std::string key(const ModelParameters& parameters) const;

 private:
  /// Whether the point is known, perhaps from the journal, as far as its race requires.
  bool known(const ModelParameters& parameters, const std::optional<Race>& race);
  /// The key of a point that was cut after so many users.
  [[nodiscard]] std::string cut_key(const ModelParameters& parameters, std::int64_t users) const;
  void read_journal(const ModelParameters& parameters);
  void train(const ModelParameters& point, bool both_diagonals, const Racing& racing);
  /// A point with neighbours and those of `points` that share its factorizations and are to be trained.
  [[nodiscard]] std::vector<ModelParameters> with_siblings(const ModelParameters& point,
                                                           std::span<const ModelParameters> points,
                                                           const Racing& racing);
  void train_neighbours(std::span<const ModelParameters> siblings, const Racing& racing);
  /// There is no model, and this is why.
  void add_failure(const ModelParameters& parameters, double seconds, const Error& error);
  std::vector<ModelParameters> measure_together(const std::vector<ModelParameters>& points,
                                                Diagonals diagonals, const Racing& racing);
  void add(const ModelParameters& parameters, Trained trained, double seconds,
           const std::optional<Race>& race);
  void score(std::unique_ptr<Scoring> scoring, const std::optional<Race>& race);
  void keep(PointResult result);
  [[nodiscard]] double room_beside(const ModelParameters& parameters);

  Trainer& trainer_;
  MeasureOptions options_;
  Journal* journal_;
  Execution execution_;
  PointWatcher watcher_;
  std::optional<Clock::time_point> until_;
  PointTeam* team_ = nullptr;
  ScoredUsers users_;
  std::map<std::string, PointResult> results_;
  HeldScorings held_;    ///< models of cut points, in the memory that training leaves free
  double expected_ = 0;  ///< expected seconds of the trained points
  double taken_ = 0;
};

}  // namespace poise
