#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poise/search/held_scorings.hpp"
#include "poise/search/journal.hpp"
#include "poise/search/point_result.hpp"
#include "poise/search/scoring.hpp"

namespace poise {

/// What is measured at each point.
struct MeasureOptions {
  std::vector<Metric> metrics = EvaluateOptions{}.metrics;
  Metric choice = {MetricKind::ndcg, 100};  ///< the one that chooses; measured too
  RecallDenominator denominator = RecallDenominator::min;
  bool race = true;  ///< by profiles: a point far behind is not scored on all users

  /// The metrics, and the choice if it is not among them.
  [[nodiscard]] EvaluateOptions evaluation() const;
};

/// The first line of a journal: what every entry depends on beside its own key.
Journal::Json journal_header(const MeasureOptions& options, std::uint64_t memory_limit,
                             const Backend& backend);

/// The race of a point, a function of that point; none: it is scored on all users.
using Racing = std::function<std::optional<Race>(const ModelParameters& point)>;

/// Of full rank: each point by itself, two diagonals that are both asked for together; or always both.
enum class Diagonals { as_asked, both };

/// Somebody who watches a search.
struct PointWatcher {
  /// After each point that was trained and scored for the first time: its result, how many are left of those
  /// asked for and the seconds they may take.
  std::function<void(const PointResult& result, std::size_t left, double seconds)> trained;
};

/// Points by their parameters: trained when first asked for, read from the journal when it has them. A result
/// depends on the data and the point alone.
class Points {
 public:
  /// `until`: no point is begun after it, by the steady clock.
  using Clock = std::chrono::steady_clock;
  Points(Trainer& trainer, MeasureOptions options, Journal* journal, Execution execution,
         PointWatcher watcher = {}, std::optional<Clock::time_point> until = {});

  /// Trains those that are not known, in the order that shares most. What loses its race is not scored to the
  /// end. Returns what was left to do when the time was up.
  std::vector<ModelParameters> measure(std::vector<ModelParameters> points,
                                       Diagonals diagonals = Diagonals::as_asked, const Racing& racing = {});
  /// Null where it was neither trained nor read.
  [[nodiscard]] const PointResult* find(const ModelParameters& parameters) const;
  /// A measured point.
  [[nodiscard]] const PointResult& at(const ModelParameters& parameters) const;

  /// How a measured point stood when it lost a race, be it one that it was not cut in; none if it did not.
  [[nodiscard]] std::optional<Standing> lost(const ModelParameters& parameters,
                                             const std::optional<Race>& race) const;
  /// A point as a rival in races; none unless it was scored on all users.
  [[nodiscard]] std::optional<Rival> rival(const ModelParameters& parameters) const;
  /// How many users there are to score.
  [[nodiscard]] std::int64_t users() const { return users_.count; }

  /// Lets go of the models of points that were cut.
  void drop_models() { held_ = {}; }

  /// All that were trained or read, in the order of their names.
  [[nodiscard]] std::vector<ModelParameters> measured() const;

  /// The standard error of the difference of two measured points, user by user, on the metric that chooses.
  [[nodiscard]] double paired_error(const ModelParameters& a, const ModelParameters& b) const;

  /// Seconds that these would take.
  [[nodiscard]] double expected_seconds(std::span<const ModelParameters> points);
  /// How long points took so far, as a multiple of what was expected.
  [[nodiscard]] double pace() const { return expected_ > 0 ? taken_ / expected_ : 1; }
  [[nodiscard]] const MeasureOptions& options() const { return options_; }
  [[nodiscard]] Trainer& trainer() const { return trainer_; }
  /// What a point is called in the journal.
  [[nodiscard]] std::string key(const ModelParameters& parameters) const;

 private:
  /// Whether it is known, be it from the journal, as far as its race asks for.
  bool known(const ModelParameters& parameters, const std::optional<Race>& race);
  /// The name of what is known of a point that was cut after so many users.
  [[nodiscard]] std::string cut_key(const ModelParameters& parameters, std::int64_t users) const;
  void read_journal(const ModelParameters& parameters);
  void train(const ModelParameters& point, bool both_diagonals, const Racing& racing);
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
  ScoredUsers users_;
  std::map<std::string, PointResult> results_;
  HeldScorings held_;    ///< of what was cut, in the memory that training leaves
  double expected_ = 0;  ///< of what was trained
  double taken_ = 0;
};

}  // namespace poise
