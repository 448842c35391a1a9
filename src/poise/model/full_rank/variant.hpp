#pragma once

#include <algorithm>
#include <cstdint>
#include <future>
#include <span>
#include <string_view>
#include <vector>

#include "poise/backend/resident.hpp"
#include "poise/base/parallel.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/model/full_rank/columns.hpp"
#include "poise/model/full_rank/cost.hpp"
#include "poise/model/full_rank/dense_checkpoint.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/solver/column_certificate.hpp"

namespace poise {

/// The parts of a fit in one precision of the inverse.
template <class T>
struct FullRankWork {
  const ColumnProblem& problem;
  const FullRankOptions& options;
  const ColumnData& data;
  const ColumnChecker<T>& checker;
  const ColumnSolver<T>& solver;
  bool measured_whole;  ///< see full_rank/cost.hpp
  Backend& backend;
  const Execution& execution;
  Stopwatch& watch;
  FullRankFit& result;
  const ColumnShare* share = nullptr;     ///< of several processes; null: all columns are here
  DenseCheckpoint* checkpoint = nullptr;  ///< of a fit of one model; may be null
  bool unmeasured = false;  ///< whether columns are proven without a pass through the data first

  /// Columns processed at a time. On a GPU as many as its memory holds besides the matrices of items x
  /// items: a column's blocks take some 64 bytes an item, 96 in float64. Its size decides,
  /// not its free memory, so that a result depends on the machine alone.
  [[nodiscard]] std::int64_t block_columns() const {
    const std::int64_t items = problem.items();
    const int parts = share != nullptr ? share->processes().size() : 1;
    if (!backend.traits().wide_blocks) return share != nullptr ? spread_block(items, parts) : full_rank_block;
    const auto n = static_cast<double>(items);
    constexpr double bytes = 8 * (sizeof(T) + sizeof(float));
    const double room = 0.9 * static_cast<double>(backend.memory_bytes()) -
                        gpu_matrices(true, 2) * sizeof(float) * n * n / parts;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(room / (bytes * n + 1)), 256,
                                    std::max<std::int64_t>(256, items));
  }

  template <class Body>
  void for_each_block(std::span<const std::int32_t> items, std::string_view task, const Body& body) const {
    poise::for_each_block(items, block_columns(), execution, task, body);
  }
};

/// One of the two models during a fit, and the figures of its columns.
template <class T>
class FullRankVariant {
 public:
  using Items = std::vector<std::int32_t>;

  /// `room`: memory for the result on the host, mapped while a GPU computes; may be none.
  FullRankVariant(const FullRankWork<T>& work, bool zero_diagonal, std::future<Matrix<float>> room);

  [[nodiscard]] bool zero_diagonal() const { return zero_diagonal_; }
  /// Row i is B_:i, or B_i: after add_rows(); without rows until they are made. Those of a share: see
  /// SavedColumns.
  Resident<float>& columns() { return columns_; }
  [[nodiscard]] SavedColumns saved() const { return {columns_.view(), work_.share, by_rows_}; }
  void expect_iterated_columns() { proof_.expect_iterated_columns(); }

  /// Columns out of h, into `beta`, which may be a part of columns() or h itself; they enter what will be
  /// proven of them.
  void add(std::span<const std::int32_t> items, In<T> h, Out<float> beta, const char* phase);
  /// Rows of B in the place of those of A^-1 instead: no pass transposes them, here and in take().
  void add_rows(std::span<const std::int32_t> items, Out<T> h, const char* phase);
  /// Proves what add_rows() made. What is not proven lies by columns from now on.
  void prove_rows(ApproximateInverse& P);
  /// The same into a block of their own and from there into columns(). A checkpoint keeps them, with what it
  /// is told here of their solution.
  void add_block(std::span<const std::int32_t> items, In<T> h, const char* phase, bool direct = false,
                 const IterationTrace& trace = {});
  /// Columns that a checkpoint kept.
  void restore(const SolvedColumns& columns);
  /// Columns for a target other than X, each checked and corrected.
  void add_for_target(std::span<const std::int32_t> items);

  /// Certifies all columns; those that may miss the tolerance are checked one by one and corrected. Columns
  /// that came directly from a float32 inverse are not: if one is not good enough, a float64 inverse is
  /// faster than many corrections.
  void certify(ApproximateInverse& P);

  /// The model; moves the columns out.
  [[nodiscard]] FullRankSolution take();

 private:
  void keep_diagonal(std::span<const std::int32_t> items, In<T> h);
  [[nodiscard]] std::vector<double> multipliers(std::span<const std::int32_t> items, In<T> h) const;
  void take_note(std::span<const std::int32_t> items, In<float> beta, std::vector<double> own);
  void take_note_unmeasured(std::span<const std::int32_t> items, In<float> beta, std::vector<double> own);
  void prove(ApproximateInverse& P);
  [[nodiscard]] bool proven() const {
    return proof_.settled() && proof_.missing(work_.options.tolerance).empty();
  }
  void correct(std::span<const std::int32_t> items);
  void measure();
  /// The rows of columns() that belong to these items.
  [[nodiscard]] Items rows_of(std::span<const std::int32_t> items) const;

  const FullRankWork<T>& work_;
  bool zero_diagonal_;
  std::future<Matrix<float>> room_;
  Resident<float> columns_;
  bool by_rows_ = false;  ///< whether columns_ is B
  ColumnCertificate proof_;
  std::vector<double> h_;           ///< h_ii
  std::vector<double> objectives_;  ///< of each column, where it was measured through all data
  double objective_ = 0;
  double objective_error_ = 0;
  double observed_ = 0;
};

/// Error{numerical} for a model that is, or may be, worse than B = 0: weights differ by more than float64 can
/// resolve.
void refuse_nonsense(const FullRankSolution& solution, CsrView X, const Weights& W);
/// Error{numerical}: not even float64 can hold the inverse.
[[noreturn]] void fail_as_singular(double condition);

/// Memory for n x n numbers, mapped by threads of its own: to touch gigabytes for the first time takes longer
/// than to fill them.
std::future<Matrix<float>> room_for(std::int64_t n, int threads);

}  // namespace poise
