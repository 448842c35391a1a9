#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/linalg/user_rows.hpp"

namespace poise {

class Backend;
template <class T>
struct DeviceView;

/// Called with (histories, first, scores): scores(k, i) = the score of item i for the user with history row
/// first + k, for every k below scores.rows. Error{usage} for a dislike_share where scores are no sum over a
/// history. `scores` lies in the memory of a backend. A row does not depend
/// on those scored with it; on a GPU but for rounding.
using ScoreRows =
    std::function<void(const UserRows& histories, std::int64_t first, DeviceView<float> scores)>;

/// A trained model as the recommender sees it: scores of all items for a user given by a history.
class Scorer {
 public:
  virtual ~Scorer() = default;
  [[nodiscard]] virtual std::int64_t items() const = 0;

  /// The model on a device: its matrices where `backend` computes, its scores by that one's primitives. Made
  /// at no cost on the processor, which reads the matrices where they are. Model and backend must outlive it.
  [[nodiscard]] virtual ScoreRows on(Backend& backend, const Execution& execution) const = 0;

  /// Row u of `scores` becomes the scores of row u of `histories`; on the processor. Error{input} when the
  /// histories are not over the model's items.
  void score(const UserRows& histories, MatrixView<float> scores,
             const Execution& execution = {.threads = 1, .observer = nullptr}) const;

  /// About how many operations of a matrix product scores of all rows of `histories` take.
  [[nodiscard]] virtual double operations(CsrView histories) const;

  /// What each item of a history (with its values; empty: all 1) adds to the score of `item`, in the order of
  /// the history, of a user who dislikes the items `disliked`; together they are the score (with a
  /// dislike_share of 0). Error{usage} where a model's scores are no such sum, which is the default.
  [[nodiscard]] virtual std::vector<double> contributions(std::span<const std::int32_t> history,
                                                          std::span<const float> values,
                                                          std::span<const std::int32_t> disliked,
                                                          std::int32_t item) const;

  /// scores[i] = how near item i is to `item`; scores.size() = items(). By default the scores of a history of
  /// `item` alone. Error{usage} for a model that knows no such thing.
  virtual void similarity(std::int32_t item, std::span<float> scores) const;
  /// near(a, b) = how near items[b] is to items[a], as similarity() says it, for every pair of these items.
  /// By default similarity() of each of them.
  virtual void similarities(std::span<const std::int32_t> items, MatrixView<float> near) const;
};

/// For Scorer::on of a model outside the library, which knows no backend: calls score(histories, first,
/// scores) with ordinary memory, from several threads at once, and copies the scores to the backend's memory.
ScoreRows scores_in_memory(
    Backend& backend,
    std::function<void(CsrView histories, std::int64_t first, MatrixView<float> scores)> score);

/// Error{usage} for a share of dislikes, as a model throws it whose scores are no sum over a history.
void refuse_dislike_share(const UserRows& histories);

/// Error{input} when the histories are not over the items of the scorer.
void check_histories(const Scorer& scorer, const UserRows& histories);

}  // namespace poise
