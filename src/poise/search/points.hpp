#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poise/evaluate/estimates.hpp"
#include "poise/search/journal.hpp"
#include "poise/search/user_sample.hpp"
#include "poise/train/trainer.hpp"

namespace poise {

/// What is measured at each point.
struct MeasureOptions {
  std::vector<Metric> metrics = EvaluateOptions{}.metrics;
  Metric choice = {MetricKind::ndcg, 100};  ///< the one that chooses; measured too
  RecallDenominator denominator = RecallDenominator::min;

  /// The metrics, and the choice if it is not among them.
  [[nodiscard]] EvaluateOptions evaluation() const;
};

/// The first line of a journal: what every entry depends on beside its own key.
Journal::Json journal_header(const MeasureOptions& options, std::uint64_t memory_limit,
                             const Backend& backend);

/// A trained point, without its model.
struct PointResult {
  ModelParameters parameters;
  Estimates validation = {};
  double objective = 0;
  Certificate certificate = {};
  std::int64_t iterations = 0;
  std::int64_t rounds = 0;
  bool converged = false;
  double seconds = 0;
  UserSample sample = {};
  std::string failure = {};  ///< why there is no model: too ill-conditioned even for float64

  /// On validation; lower than any other where there is no model.
  [[nodiscard]] double score(const Metric& choice) const;
};

/// Somebody who watches a search.
struct PointWatcher {
  /// After each point that was trained: its result, how many are left of those asked for and the seconds they
  /// may take.
  std::function<void(const PointResult& result, std::size_t left, double seconds)> trained;
};

/// Thrown by measure() when the time is up, with what it had left to do.
struct TimeIsUp {
  std::vector<ModelParameters> missing;
};

/// Points by their parameters: trained when first asked for, read from the journal when it has them. A result
/// depends on the data and the point alone.
class Points {
 public:
  /// `until`: no point is begun after it, by the steady clock.
  using Clock = std::chrono::steady_clock;
  Points(Trainer& trainer, MeasureOptions options, Journal* journal, Execution execution,
         PointWatcher watcher = {}, std::optional<Clock::time_point> until = {});

  /// Trains those that are not known, in the order that shares most; with `both_diagonals` full-rank points
  /// bring their other diagonal along.
  void measure(std::vector<ModelParameters> points, bool both_diagonals);
  /// Null where it was neither trained nor read.
  [[nodiscard]] const PointResult* find(const ModelParameters& parameters) const;
  /// A measured point.
  [[nodiscard]] const PointResult& at(const ModelParameters& parameters) const;

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
  /// Whether it is known, be it from the journal.
  bool known(const ModelParameters& parameters);
  void train(const ModelParameters& point, bool both_diagonals);
  void add(const ModelParameters& parameters, const Trained& trained, double seconds);
  void keep(PointResult result);

  Trainer& trainer_;
  MeasureOptions options_;
  Journal* journal_;
  Execution execution_;
  PointWatcher watcher_;
  std::optional<Clock::time_point> until_;
  std::map<std::string, PointResult> results_;
  double expected_ = 0;  ///< of what was trained
  double taken_ = 0;
};

}  // namespace poise
