#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "poise/linalg/vector.hpp"
#include "poise/model/full_rank/basis.hpp"
#include "poise/model/full_rank/dense_checkpoint.hpp"
#include "poise/model/full_rank/start.hpp"
#include "poise/model/full_rank/variant.hpp"
#include "poise/solver/woodbury.hpp"

namespace poise {

/// The fit in one precision of the inverse.
template <class T>
class FullRankSolver {
 public:
  FullRankSolver(const FullRankWork<T>& work, FullRankBasis& basis, bool keep,
                 std::vector<FullRankVariant<T>>& variants, const FullRankStart* start)
      : work_(work),
        problem_(work.problem),
        backend_(work.backend),
        basis_(basis),
        keep_(keep),
        n_(work.problem.items()),
        A_inverse_(basis.inverse<T>().matrix),
        variants_(variants),
        start_(start) {}

  void solve() {
    if (problem_.weighted()) {
      solve_weighted();
    } else {
      solve_unweighted();
    }
  }

 private:
  using Items = std::vector<std::int32_t>;

  /// W = 1, or user weights alone: h_i = A^-1 e_i. The last model overwrites A^-1; its certificate
  /// computes A^-1 from it.
  void solve_unweighted() {
    const Items items = numbers_from(0, n_);
    work_.result.direct_columns = n_;
    for (std::size_t v = 0; v < variants_.size(); ++v) {
      FullRankVariant<T>& variant = variants_[v];
      const bool in_place =
          std::is_same_v<T, float> && (!keep_ || basis_.in_place) && v + 1 == variants_.size();
      if (!in_place) variant.columns() = Resident<float>(backend_, n_, n_);
      work_.for_each_block(items, "solving", [&](std::span<const std::int32_t> part) {
        const auto width = static_cast<std::int64_t>(part.size());
        const Out<T> rows = A_inverse_.view().block(part.front(), width);
        if (in_place && work_.unmeasured) return variant.add_rows(part, rows, "columns");
        Out<float> to;
        if constexpr (std::is_same_v<T, float>) to = rows;
        if (!in_place) to = variant.columns().view().block(part.front(), width);
        variant.add(part, rows, to, "columns");
      });
      if constexpr (std::is_same_v<T, float>) {
        if (in_place) variant.columns() = std::move(A_inverse_);
        std::vector<double> p = work_.checker.inverse_diagonal();
        for (std::int64_t i = 0; i < n_ && !variant.zero_diagonal(); ++i) p[i] = 1 / problem_.l[i];
        if (variant.saved().as_rows) {
          InverseOfColumns by_rows(variant.saved(), p, backend_);
          variant.prove_rows(by_rows);
        }
        InverseOfColumns P(variant.saved(), std::move(p), backend_);
        variant.certify(P);
      } else {
        ComputedInverse<T> P(work_.checker.A_inverse());
        variant.certify(P);
      }
    }
  }

  void solve_weighted() {
    for (FullRankVariant<T>& variant : variants_) variant.columns() = Resident<float>(backend_, n_, n_);
    Items direct;
    Items iterated;
    choose_routes(direct, iterated);
    const SavedRoutes saved = take_saved(direct, iterated);
    solve_by_woodbury(direct, iterated);
    work_.result.direct_columns = static_cast<std::int64_t>(direct.size()) + saved.direct;
    work_.result.iterated_columns = n_ - work_.result.direct_columns;
    for (FullRankVariant<T>& variant : variants_) {
      if (work_.result.iterated_columns > 0) variant.expect_iterated_columns();
    }
    Items earlier;
    if (start_ != nullptr)
      std::ranges::copy_if(iterated, std::back_inserter(earlier),
                           [&](std::int32_t i) { return i < start_->B.rows; });
    iterate(earlier, true);
    std::erase_if(iterated, [&](std::int32_t i) { return start_ != nullptr && i < start_->B.rows; });
    iterate(iterated, false);
    if (work_.checkpoint != nullptr) work_.checkpoint->end();
    ComputedInverse<T> P(work_.checker.A_inverse());
    for (FullRankVariant<T>& variant : variants_) variant.certify(P);
  }

  /// Woodbury or conjugate gradients for each item, by counted operations and the memory limit, never by
  /// measured time. On a GPU products are cheaper than all else.
  void choose_routes(Items& direct, Items& iterated) const {
    const FullRankOptions& options = work_.options;
    const bool possible = backend_.traits().cheap_gathers && !problem_.W->c.empty() &&
                          woodbury_possible(problem_, options.memory_limit, std::is_same_v<T, double>);
    if (!possible) {
      iterated = numbers_from(0, n_);
      return;
    }
    const std::vector<ColumnLoad> loads = column_loads(problem_.X, *problem_.W);
    for (std::int32_t i = 0; i < n_; ++i) {
      const bool woodbury =
          woodbury_operations(loads[i], n_) < iteration_operations(problem_, i, loads[i], options.tolerance);
      (woodbury ? direct : iterated).push_back(i);
    }
  }

  struct SavedRoutes {
    std::int64_t direct = 0;
    std::int64_t iterated = 0;
  };
  /// Takes over the columns of a checkpoint; the others remain in the lists.
  SavedRoutes take_saved(Items& direct, Items& iterated) {
    SavedRoutes saved;
    if (work_.checkpoint == nullptr) return saved;
    std::vector<char> known(n_, 0);
    work_.checkpoint->template load_columns<T>([&](const SolvedColumns& columns) {
      variants_.front().restore(columns);
      (columns.direct ? saved.direct : saved.iterated) += std::ssize(columns.items);
      for (const std::int32_t i : columns.items) known[i] = 1;
    });
    for (Items* const items : {&direct, &iterated})
      std::erase_if(*items, [&](std::int32_t i) { return known[i] != 0; });
    work_.watch.book("checkpoint");
    return saved;
  }

  /// From now on a request to stop waits for the end of a block; whether there was one.
  [[nodiscard]] bool stops() const { return work_.checkpoint != nullptr && work_.checkpoint->stops(); }
  void keep() const {
    if (work_.checkpoint != nullptr) work_.checkpoint->keep(sizeof(T));
  }

  /// Items whose K turns out singular move to the iterated ones.
  void solve_by_woodbury(Items& direct, Items& iterated) {
    if (direct.empty()) return;
    std::unique_ptr<ScoresOfInverse<T>>& scores = basis_.inverse<T>().scores;
    if (!scores) scores = std::make_unique<ScoresOfInverse<T>>(problem_.X, A_inverse_.view(), backend_);
    const Woodbury<T> woodbury(problem_, ordinary(backend_, readable(A_inverse_)), scores->view());
    work_.watch.book("woodbury T");
    keep();
    Items solved;
    work_.for_each_block(direct, "solving items with few users", [&](std::span<const std::int32_t> part) {
      if (stops()) return;
      Resident<T> h(backend_, static_cast<std::int64_t>(part.size()), n_);
      const std::vector<char> good = woodbury.solve(part, ordinary(backend_, h.view()), work_.execution);
      Items kept;
      Items rows;
      for (std::size_t k = 0; k < part.size(); ++k) {
        if (good[k] != 0) rows.push_back(static_cast<std::int32_t>(k));
        (good[k] != 0 ? kept : iterated).push_back(part[k]);
      }
      if (rows.size() < part.size()) {
        Resident<T> only(backend_, static_cast<std::int64_t>(rows.size()), n_);
        backend_.copy_rows(In<T>(h.view()), rows, only.view(), {});
        h = std::move(only);
      }
      for (FullRankVariant<T>& variant : variants_) variant.add_block(kept, h.view(), "woodbury", true);
      solved.insert(solved.end(), kept.begin(), kept.end());
    });
    direct = std::move(solved);
    if (!keep_) scores.reset();
    work_.watch.book("woodbury");
  }

  /// From A^-1 e_i, or from the earlier columns.
  void iterate(const Items& items, bool from_earlier) {
    keep();
    work_.for_each_block(items, "solving", [&](std::span<const std::int32_t> part) {
      if (stops()) return;
      if (!problem_.target_is_X) {
        for (FullRankVariant<T>& variant : variants_) variant.add_for_target(part);
        return;
      }
      Resident<T> h(backend_, static_cast<std::int64_t>(part.size()), n_);
      IterationTrace trace;
      trace.iterations =
          from_earlier ? go_on(part, h.view(), trace) : work_.solver.solve(part, h.view(), trace.worst);
      add_trace(work_.result, trace);
      work_.watch.book("iterations");
      for (FullRankVariant<T>& variant : variants_)
        variant.add_block(part, h.view(), "iterations", false, trace);
    });
  }

  std::int64_t go_on(std::span<const std::int32_t> items, Out<T> h, IterationTrace& trace) {
    Resident<T> r(backend_, h.rows, h.cols);
    start_columns<T>(*start_, problem_, items, h, r.view(), backend_, work_.execution.threads);
    return work_.solver.solve_from(items, h, r.view(), trace.worst);
  }

  const FullRankWork<T>& work_;
  const ColumnProblem& problem_;
  Backend& backend_;
  FullRankBasis& basis_;
  bool keep_;  ///< whether the basis serves other fits
  std::int64_t n_;
  Resident<T>& A_inverse_;  ///< the basis's
  std::vector<FullRankVariant<T>>& variants_;
  const FullRankStart* start_;  ///< null: there is no earlier model
};

}  // namespace poise
