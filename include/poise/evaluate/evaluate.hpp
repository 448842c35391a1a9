#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/evaluate/metrics.hpp"
#include "poise/evaluate/training_view.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/scorer.hpp"

namespace poise {

class Processes;

struct EvaluateOptions {
  std::vector<Metric> metrics = {{MetricKind::recall, 20}, {MetricKind::recall, 50}, {MetricKind::ndcg, 100}};
  RecallDenominator denominator = RecallDenominator::min;
  bool cold_items = false;        ///< rank the items alone that no training user has
  std::int64_t item_hits_at = 0;  ///< count each item's targets found in the top so many; 0: do not count
};

struct MetricResult {
  Metric metric;
  double mean = 0;
  /// sd / sqrt(users), sd with divisor users; absent for a metric that is one number for all users.
  std::optional<double> standard_error = std::nullopt;
};

struct EvaluationResult {
  std::int64_t users = 0;  ///< the measured users: those with at least one target
  std::int64_t users_without_targets = 0;
  std::int64_t targets = 0;           ///< of all users
  std::int64_t known_targets = 0;     ///< targets in their user's history, or disliked: they cannot be found
  std::vector<MetricResult> metrics;  ///< in the order asked for

  std::vector<Metric> per_user_metrics;  ///< the means over users, the columns of per_user
  std::vector<std::int64_t> user_rows;   ///< the row in `targets` of each measured user
  Matrix<double> per_user;               ///< users x per_user_metrics

  std::vector<std::int64_t>
      item_hits;  ///< with item_hits_at: for each item, the users who have it as target and find it
};

/// An evaluation that measures users in several calls, and may end before all are measured.
class Evaluation {
 public:
  /// As evaluate(); the scorer and the views of users must outlive it, the training data need not.
  Evaluation(const Scorer& scorer, const UserRows& histories, CsrView targets, const TrainingView& training,
             EvaluateOptions options, const Execution& execution, Backend* backend = nullptr);
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;
  ~Evaluation();

  /// Measures these users: indices into user_rows, none of them measured before.
  void measure(std::span<const std::int64_t> users);
  void measure_all();
  /// Measures all users, a part of them in each process; every process calls it. The first one then has all
  /// of them, the others their own. The same bytes for any number of processes, on the processor.
  void measure_together(Processes& processes);
  /// Frees the GPU's memory until it is needed again.
  void pause();
  /// The results so far: user_rows is complete, per_user holds measured users, there are no means.
  [[nodiscard]] const EvaluationResult& so_far() const;
  /// The means over all users; all must have been measured.
  [[nodiscard]] EvaluationResult finish();

 private:
  struct Measuring;
  std::unique_ptr<Measuring> measuring_;
};

/// Ranks all items (or the cold ones) outside the history and dislikes for every user, ties to the lower
/// index, and averages the metrics over the users that have a target; a metric that is one number for all
/// users is of the lists of these. A target that is also in the history, or disliked, counts as a target but
/// cannot be found.
///
/// Row u of `histories` belongs to row u of `targets`. Works in blocks of users; the result does not depend
/// on the threads. With a GPU's backend it scores and ranks there; scores then differ by rounding, and whole
/// rows of scores are copied back for auc alone. Error{input} if shapes differ, no user has a target or
/// `training` lacks what a metric needs, Error{usage} without metrics,
/// Error{numerical} for a NaN score.
EvaluationResult evaluate(const Scorer& scorer, const UserRows& histories, CsrView targets,
                          const TrainingView& training, const EvaluateOptions& options,
                          const Execution& execution, Backend* backend = nullptr);

/// Error{input} if no target could have been found, whatever the model.
void check_findable(const EvaluationResult& result);

}  // namespace poise
