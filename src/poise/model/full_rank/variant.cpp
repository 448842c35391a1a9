#include "poise/model/full_rank/variant.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/linalg/vector.hpp"

namespace poise {

template <class T>
FullRankVariant<T>::FullRankVariant(const FullRankWork<T>& work, bool zero_diagonal,
                                    std::future<Matrix<float>> room)
    : work_(work),
      zero_diagonal_(zero_diagonal),
      room_(std::move(room)),
      proof_(work.data.shared_system(), work.data.observed(), zero_diagonal, work.backend, work.execution,
             work.share),
      objectives_(work.problem.items(), 0.0) {
  proof_.expect_measured(!work.unmeasured);
}

template <class T>
void FullRankVariant<T>::add(std::span<const std::int32_t> items, In<T> h, Out<float> beta,
                             const char* phase) {
  // Before h is overwritten.
  std::vector<double> own = multipliers(items, h);
  keep_diagonal(items, h);
  work_.solver.to_columns(items, zero_diagonal_, h, beta);
  work_.watch.book(phase);
  take_note(items, beta, std::move(own));
}

template <class T>
void FullRankVariant<T>::add_rows(std::span<const std::int32_t> items, Out<T> h, const char* phase) {
  if constexpr (std::is_same_v<T, float>) {
    by_rows_ = true;
    std::vector<double> own = multipliers(items, h);
    keep_diagonal(items, h);
    work_.solver.to_rows(items, zero_diagonal_, h, h);
    work_.watch.book(phase);
    take_note_unmeasured(items, h, std::move(own));  // of rows it reads the diagonal alone
  }
}

template <class T>
void FullRankVariant<T>::prove_rows(ApproximateInverse& P) {
  proof_.prove(P, saved(), work_.options.tolerance);
  if (!proven()) {
    work_.backend.transpose_in_place(columns_.view());
    by_rows_ = false;
  }
  work_.watch.book("certificate");
}

template <class T>
void FullRankVariant<T>::keep_diagonal(std::span<const std::int32_t> items, In<T> h) {
  std::vector<double> diagonal(items.size());
  work_.backend.get_entries(h, {}, items, diagonal);
  h_.resize(work_.problem.items());
  for (std::size_t k = 0; k < items.size(); ++k) h_[items[k]] = diagonal[k];
}

template <class T>
void FullRankVariant<T>::add_block(std::span<const std::int32_t> items, In<T> h, const char* phase,
                                   bool direct, const IterationTrace& trace) {
  Resident<float> beta(work_.backend, h.rows, h.cols);
  std::vector<double> own = multipliers(items, h);
  keep_diagonal(items, h);
  work_.solver.to_columns(items, zero_diagonal_, h, beta.view());
  work_.watch.book(phase);
  if (work_.checkpoint != nullptr) {
    work_.checkpoint->save({.items = Items(items.begin(), items.end()),
                            .beta = beta.home(),
                            .own = own,
                            .direct = direct,
                            .trace = trace});
    work_.watch.book("checkpoint");
  }
  take_note(items, std::as_const(beta).view(), std::move(own));
  work_.backend.copy_rows(std::as_const(beta).view(), {}, columns_.view(), rows_of(items));
}

template <class T>
void FullRankVariant<T>::restore(const SolvedColumns& columns) {
  if (columns.items.empty()) return;
  const Resident<float> beta(work_.backend, columns.beta.view());
  take_note(columns.items, beta.view(), columns.own);
  work_.backend.copy_rows(beta.view(), {}, columns_.view(), rows_of(columns.items));
  add_trace(work_.result, columns.trace);
}

template <class T>
void FullRankVariant<T>::add_for_target(std::span<const std::int32_t> items) {
  Resident<float> beta(work_.backend, static_cast<std::int64_t>(items.size()), columns_.cols());
  work_.solver.start_for_target(items, beta.view());
  work_.backend.copy_rows(std::as_const(beta).view(), {}, columns_.view(), rows_of(items));
  correct(items);
}

/// The solver's multipliers of the zero diagonal; none without one, nor if they come from the diagonal of a
/// float32 inverse: the saved columns then give them at least as exactly.
template <class T>
std::vector<double> FullRankVariant<T>::multipliers(std::span<const std::int32_t> items, In<T> h) const {
  const bool rounded =
      std::is_same_v<T, float> && !work_.problem.weighted() && !work_.measured_whole && !work_.unmeasured;
  return zero_diagonal_ && !rounded ? work_.solver.multipliers(items, h) : std::vector<double>();
}

/// Adds saved columns to the proof. If they are measured through all data, a column's own objective is the
/// best estimate of its multiplier: at the optimum they are equal.
template <class T>
void FullRankVariant<T>::take_note(std::span<const std::int32_t> items, In<float> beta,
                                   std::vector<double> own) {
  if (work_.unmeasured) return take_note_unmeasured(items, beta, std::move(own));
  std::vector<double> scores;
  const std::vector<double> explained =
      work_.data.explained(items, beta, proof_.takes_scores() ? &scores : nullptr);
  if (work_.measured_whole) {
    std::vector<ColumnFigures> figures(items.size());
    work_.checker.residuals(items, beta, {}, figures);
    for (std::size_t k = 0; k < items.size(); ++k) objectives_[items[k]] = figures[k].objective;
    for (std::size_t k = 0; k < own.size(); ++k) own[k] = figures[k].objective;
  }
  work_.watch.book("objective");
  proof_.add(items, beta, explained, own, scores);
  work_.watch.book("certificate");
}

/// Adds saved columns with what they would explain if no rounding had left a residual: all but d_i, or but
/// l_i B_ii.
template <class T>
void FullRankVariant<T>::take_note_unmeasured(std::span<const std::int32_t> items, In<float> beta,
                                              std::vector<double> own) {
  if (!zero_diagonal_) {
    own.resize(items.size());
    work_.backend.get_entries(beta, {}, items, own);
    for (std::size_t k = 0; k < items.size(); ++k) own[k] *= work_.problem.l[items[k]];
  }
  for (std::size_t k = 0; k < items.size(); ++k) own[k] = work_.data.observed()[items[k]] - own[k];
  proof_.add(items, beta, own, {}, {});
  work_.watch.book("certificate");
}

/// Where columns that were not measured miss the tolerance, they are measured.
template <class T>
void FullRankVariant<T>::prove(ApproximateInverse& P) {
  proof_.prove(P, saved(), work_.options.tolerance);
  work_.watch.book("certificate");
  if (!work_.unmeasured || proven()) return;
  proof_.expect_measured(true);
  const Items all = numbers_from(0, work_.problem.items());
  work_.for_each_block(all, "measuring", [&](std::span<const std::int32_t> part) {
    const auto width = static_cast<std::int64_t>(part.size());
    const In<float> beta = std::as_const(columns_).view().block(part.front(), width);
    proof_.add(part, beta, work_.data.explained(part, beta), {}, {});
  });
  work_.watch.book("objective");
  proof_.prove(P, saved(), work_.options.tolerance);
  work_.watch.book("certificate");
}

template <class T>
void FullRankVariant<T>::certify(ApproximateInverse& P) {
  if (!work_.problem.target_is_X) return;
  if (by_rows_) return measure();
  prove(P);
  Items missing = proof_.missing(work_.options.tolerance);
  const bool correctable = work_.problem.weighted() || std::is_same_v<T, double>;
  if (!missing.empty() && correctable) {
    if (work_.share != nullptr)
      std::erase_if(missing,
                    [&](std::int32_t i) { return work_.share->owner(i) != work_.share->processes().rank(); });
    work_.for_each_block(missing, "correcting", [&](std::span<const std::int32_t> part) { correct(part); });
    work_.checker.A_inverse().finish();
    proof_.prove_again(P, saved());
    work_.watch.book("certificate");
  }
  measure();
}

/// Checks columns one by one and corrects them.
template <class T>
void FullRankVariant<T>::correct(std::span<const std::int32_t> items) {
  int most = 0;
  Resident<float> beta(work_.backend, static_cast<std::int64_t>(items.size()), columns_.cols());
  work_.backend.copy_rows(std::as_const(columns_).view(), rows_of(items), beta.view(), {});
  const std::vector<CheckedColumn> checked =
      work_.solver.check_and_correct(items, zero_diagonal_, beta.view(), most);
  work_.backend.copy_rows(std::as_const(beta).view(), {}, columns_.view(), rows_of(items));
  for (std::size_t k = 0; k < items.size(); ++k) {
    const ColumnFigures& figures = checked[k].figures;
    proof_.verify(items[k], figures.observed - figures.objective, checked[k].excess, checked[k].ratio);
    if (work_.problem.target_is_X) {
      objectives_[items[k]] = figures.objective;
    } else {
      objective_ += figures.objective;
      observed_ += figures.observed;
    }
  }
  work_.result.iterations = std::max<std::int64_t>(work_.result.iterations, most);
  work_.watch.book("correct");
}

/// The objective: of every column through all data if that takes little of the fit's time, else the proof's
/// estimate.
template <class T>
void FullRankVariant<T>::measure() {
  observed_ = sum_of(work_.data.observed());
  if (work_.measured_whole) {
    if (work_.share != nullptr) work_.share->join(objectives_);
    objective_ = sum_of(objectives_);
    return;
  }
  const EstimatedObjective estimate = proof_.objective();
  objective_ = estimate.value;
  objective_error_ = estimate.error;
}

template <class T>
std::vector<std::int32_t> FullRankVariant<T>::rows_of(std::span<const std::int32_t> items) const {
  return work_.share == nullptr ? Items(items.begin(), items.end()) : work_.share->places(items);
}

template <class T>
FullRankSolution FullRankVariant<T>::take() {
  if (work_.share == nullptr && !by_rows_) work_.backend.transpose_in_place(columns_.view());
  const Certificate certificate = proof_.certificate();
  return {.zero_diagonal = zero_diagonal_,
          .B = columns_.take(room_.valid() ? room_.get() : Matrix<float>()),
          .objective = objective_,
          .objective_error = objective_error_,
          .observed_weight = work_.problem.target_is_X ? observed_weight(work_.problem) : observed_,
          .certificate = certificate,
          .h = std::move(h_),
          .converged = certificate.worst_column <= work_.options.tolerance,
          .settled = proof_.settled()};
}

namespace {

/// 1 + C of the disliked entries, which are in the support and not in X; 1 if there are none.
double weight_of_dislikes(CsrView X, const Weights& W) {
  if (W.own_support == nullptr) return 1;
  for (std::int64_t u = 0; u < X.rows; ++u) {
    for (std::int64_t k = W.support.offsets[u]; k < W.support.offsets[u + 1]; ++k) {
      if (!std::ranges::binary_search(X.row(u), W.support.indices[k])) return 1.0 + W.c[k];
    }
  }
  return 1;
}

/// What to change, by what made the weights differ most from 1.
std::string less_extreme(CsrView X, const Weights& W) {
  const bool by_dislikes =
      std::abs(std::log(weight_of_dislikes(X, W))) >= std::max(std::log(W.highest), -std::log(W.lowest));
  return by_dislikes ? fmt::format("use a {} nearer to 1", "alpha-negative"_p)
                     : fmt::format("use a smaller {} or {}, or other values", "alpha"_p, "clip"_p);
}

}  // namespace

void refuse_nonsense(const FullRankSolution& solution, CsrView X, const Weights& W) {
  if (solution.converged) return;
  const double apart = W.highest / W.lowest;
  if (solution.objective > solution.observed_weight)
    fail(ErrorKind::numerical,
         "the weights of single entries differ by a factor of {:.1e}, too much for float64: the result "
         "has an objective of {:.3g}, a model of zeros {:.3g}; {}",
         apart, solution.objective, solution.observed_weight, less_extreme(X, W));
  if (!(solution.certificate.relative < 1))
    fail(ErrorKind::numerical,
         "the weights of single entries differ by a factor of {:.1e}, too much for float64: nothing can be "
         "proven of the result; {}",
         apart, less_extreme(X, W));
}

void fail_as_singular(double condition) {
  fail(ErrorKind::numerical,
       "X'X + Lambda is singular to working precision even in float64 (condition {:.1e}); raise {}",
       condition, "lambda"_p);
}

std::future<Matrix<float>> room_for(std::int64_t n, int threads) {
  return std::async(std::launch::async, [n, threads] {
    constexpr std::int64_t page = 4096 / sizeof(float);
    constexpr std::int64_t pages_per_tile = 1 << 14;
    constexpr int most_threads = 4;  // the others have data to prepare
    Matrix<float> room = Matrix<float>::uninitialized(n, n);
    const Tiling tiling{n * n, pages_per_tile * page};
    for_each_tile(tiling.tiles(), std::min(threads, most_threads), [&](std::int64_t tile) {
      for (std::int64_t at = tiling.first(tile); at < tiling.last(tile); at += page) room.view().data[at] = 0;
    });
    return room;
  });
}

template class FullRankVariant<float>;
template class FullRankVariant<double>;

}  // namespace poise
