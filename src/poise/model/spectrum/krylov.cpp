#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include <lapacke.h>

#include "poise/backend/resident.hpp"
#include "poise/base/error.hpp"
#include "poise/linalg/serial_blas.hpp"
#include "poise/model/spectrum/routes.hpp"
#include "poise/model/spectrum/sliced_gram.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {
namespace {

constexpr std::int64_t block_width = 32;
/// Once all pairs have converged, this many random directions search for missed ones in this many steps:
/// a Krylov space holds no more copies of a multiple eigenvalue than its blocks are wide.
constexpr std::int64_t probe_width = 16;
constexpr int probe_steps = 8;
/// The largest ||G q - s q|| relative to s (or, if s is almost 0, to the largest s). The error that it leaves
/// in s is its square divided by a gap.
constexpr double residual_tolerance = 1e-6;
constexpr double residual_floor = 1e-12;
/// A direction this small next to its block is rounding noise; a block with none below `doubtful` is as
/// orthogonal to the basis as projecting it twice made it.
constexpr double noise = 1e-11;
constexpr double doubtful = 1e-5;
/// A column that projecting leaves this long is as orthogonal to the basis as rounding allows.
constexpr double long_enough = 0.7;
constexpr int most_projections = 3;

/// A growing orthonormal basis Q with T = Q' G Q and what lies outside of it of G Q.
class KrylovSpace {
 public:
  KrylovSpace(CsrView X, std::span<const float> row_weights, std::int64_t capacity, Backend& backend,
              const Execution& execution)
      : items_(X.cols),
        G_(X, row_weights, backend, execution),
        backend_(backend),
        Q_(backend, X.cols, std::min(capacity, X.cols)),
        T_(Q_.cols(), Q_.cols()),
        outside_(backend, X.cols, 0) {}

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool full() const { return size_ == items_; }

  /// The outside part of G Q, with `random` random directions beside it, becomes the next block of Q.
  void extend(std::int64_t random) {
    const std::int64_t width = std::min(outside_.cols() + random, items_ - size_);
    const std::int64_t given = std::min(outside_.cols(), width);
    Resident<double> block(backend_, items_, width);
    backend_.copy(readable(outside_).columns(0, given), block.view().columns(0, given));
    if (width > given) {
      Matrix<double> more(items_, width - given);
      for (std::int64_t i = 0; i < items_; ++i) {
        for (double& entry : more.row(i)) entry = random_entry();
      }
      backend_.upload(more.view(), block.view().columns(given, width - given));
    }
    if (random > 0) project_out(block.view());
    orthonormalize(block);
    append(block);
  }

  /// Extends the basis by what random directions reach in `steps`, beside the outside part of G Q and not
  /// with it.
  void probe(std::int64_t random, int steps) {
    Resident<double> aside = std::exchange(outside_, Resident<double>(backend_, items_, 0));
    const std::vector<std::int64_t> aside_of = std::exchange(outside_of_, {});
    extend(random);
    for (int step = 1; step < steps && !full(); ++step) extend(0);
    project_out(aside.view());
    Resident<double> both(backend_, items_, aside.cols() + outside_.cols());
    backend_.copy(readable(aside), both.view().columns(0, aside.cols()));
    backend_.copy(readable(outside_), both.view().columns(aside.cols(), outside_.cols()));
    outside_ = std::move(both);
    outside_of_.insert(outside_of_.begin(), aside_of.begin(), aside_of.end());
  }

  struct Ritz {
    EigenPairs pairs;              ///< of T; their vectors are coefficients in the basis
    std::vector<double> residual;  ///< ||G q - s q|| of each
  };

  [[nodiscard]] Ritz ritz() const {
    Matrix<double> T(size_, size_);
    copy_square(T_, T);
    Ritz result{backend_.symmetric_eigenpairs(std::move(T)), std::vector<double>(size_)};
    const std::int64_t width = outside_.cols();
    if (width == 0) return result;
    Resident<double> square(backend_, width, width);
    backend_.gemm(Op::transpose, Op::none, 1.0, outside_.view(), outside_.view(), 0.0, square.view());
    Matrix<double> last(width, size_);
    for (std::int64_t j = 0; j < width; ++j)
      std::ranges::copy(result.pairs.Q.row(outside_of_[j]), last.row(j).begin());
    const Matrix<double> product = times(Op::none, readable(square), last, backend_);
    for (std::int64_t j = 0; j < width; ++j) {
      for (std::int64_t k = 0; k < size_; ++k) result.residual[k] += last(j, k) * product(j, k);
    }
    for (double& residual : result.residual) residual = std::sqrt(std::max(0.0, residual));
    return result;
  }

  /// The first `count` Ritz vectors themselves.
  [[nodiscard]] EigenPairs pairs(const Ritz& ritz, std::int64_t count) const {
    Resident<double> Q(backend_, items_, count);
    backend_.gemm(Op::none, Op::none, 1.0, Q_.view().columns(0, size_),
                  Lent(backend_, ritz.pairs.Q).view().columns(0, count), 0.0, Q.view());
    return {{ritz.pairs.s.begin(), ritz.pairs.s.begin() + count}, Q.take()};
  }

 private:
  /// A vector of these has a length of about 1.
  double random_entry() {
    return (static_cast<double>(random_() >> 11) * 0x1p-52 - 1) *
           std::sqrt(3.0 / static_cast<double>(items_));
  }

  /// W <- W - Q Q'W until it is orthogonal to Q; returns Q'W as it was. Of G q most lies in the last two
  /// blocks: once that is removed, going through all of Q a single time is enough as a rule.
  Matrix<double> project_out(Out<double> W) {
    Matrix<double> sum(size_, W.cols);
    if (size_ == 0) return sum;
    project_out(W, last_two_, sum);
    std::vector<double> before = squares(W);
    for (int pass = 0; pass < most_projections; ++pass) {
      project_out(W, 0, sum);
      const std::vector<double> after = squares(W);
      bool enough = true;
      for (std::int64_t j = 0; j < W.cols; ++j)
        enough = enough && after[j] >= long_enough * long_enough * before[j];
      if (enough) break;
      before = after;
    }
    return sum;
  }

  void project_out(Out<double> W, std::int64_t first, Matrix<double>& sum) {
    const std::int64_t count = size_ - first;
    const In<double> Q = readable(Q_).columns(first, count);
    Resident<double> there(backend_, count, W.cols);
    backend_.gemm(Op::transpose, Op::none, 1.0, Q, W, 0.0, there.view());
    backend_.gemm(Op::none, Op::none, -1.0, Q, there.view(), 1.0, W);
    const Matrix<double> part = there.take();
    for (std::int64_t k = 0; k < count; ++k) {
      for (std::int64_t j = 0; j < W.cols; ++j) sum(first + k, j) += part(k, j);
    }
  }

  [[nodiscard]] std::vector<double> squares(In<double> W) const {
    Resident<double> there(backend_, W.cols, W.cols);
    backend_.gemm(Op::transpose, Op::none, 1.0, W, W, 0.0, there.view());
    const Matrix<double> products = there.take();
    std::vector<double> sums(W.cols);
    for (std::int64_t j = 0; j < W.cols; ++j) sums[j] = products(j, j);
    return sums;
  }

  /// An orthonormal block, orthogonal to the basis, that spans what the given one does; where that is less
  /// than its width, random directions fill it up.
  void orthonormalize(Resident<double>& where_computed) {
    for (double scale = largest_;; scale = 1) {  // NOLINT(cert-flp30-c): it counts nothing
      Matrix<double> block = where_computed.take();
      const std::vector<double> sizes = factor(block);
      const double largest = *std::ranges::max_element(sizes);
      bool again = false;
      for (std::int64_t j = 0; j < block.cols(); ++j) {
        again = again || sizes[j] < doubtful * largest;
        if (sizes[j] > noise * scale) continue;
        again = true;
        for (std::int64_t i = 0; i < block.rows(); ++i) block(i, j) = random_entry();
      }
      where_computed = Resident<double>(backend_, std::move(block));
      if (!again) return;
      project_out(where_computed.view());
    }
  }

  /// block = Q R by reflections, which are orthonormal however dependent the columns are; Q replaces the
  /// block, |R_jj| is returned. On one thread, as LAPACK's result would depend on their number.
  static std::vector<double> factor(Matrix<double>& block) {
    const SerialBlas serial;
    const auto rows = static_cast<lapack_int>(block.rows());
    const auto cols = static_cast<lapack_int>(block.cols());
    double* const data = block.view().data;
    std::vector<double> reflections(cols);
    // To LAPACK the block is its transpose, so what it factors is L Q'.
    lapack_int status = LAPACKE_dgelqf(LAPACK_COL_MAJOR, cols, rows, data, cols, reflections.data());
    std::vector<double> sizes(cols);
    for (std::int64_t j = 0; j < cols; ++j) sizes[j] = std::abs(block(j, j));
    if (status == 0)
      status = LAPACKE_dorglq(LAPACK_COL_MAJOR, cols, rows, cols, data, cols, reflections.data());
    if (status != 0)
      fail(ErrorKind::numerical, "orthonormalizing {} vectors failed (LAPACK says {})", cols, status);
    return sizes;
  }

  void append(const Resident<double>& block) {
    const std::int64_t first = size_;
    reserve(first + block.cols());
    backend_.copy(block.view(), Q_.view().columns(first, block.cols()));
    size_ += block.cols();
    last_two_ = std::exchange(last_, first);
    outside_ = G_.times(block.view());
    outside_of_.resize(block.cols());
    std::iota(outside_of_.begin(), outside_of_.end(), first);
    const Matrix<double> inside = project_out(outside_.view());
    for (std::int64_t k = 0; k < size_; ++k) {
      for (std::int64_t j = 0; j < block.cols(); ++j) T_(k, first + j) = T_(first + j, k) = inside(k, j);
    }
    for (std::int64_t k = first; k < size_; ++k) largest_ = std::max(largest_, T_(k, k));
  }

  void reserve(std::int64_t size) {
    if (size <= Q_.cols()) return;
    const std::int64_t capacity = std::min(items_, std::max(size, Q_.cols() + Q_.cols() / 2));
    Resident<double> Q(backend_, items_, capacity);
    backend_.copy(readable(Q_).columns(0, size_), Q.view().columns(0, size_));
    Q_ = std::move(Q);
    Matrix<double> T(capacity, capacity);
    copy_square(T_, T);
    T_ = std::move(T);
  }

  /// The computed part of T.
  void copy_square(const Matrix<double>& from, Matrix<double>& to) const {
    for (std::int64_t k = 0; k < size_; ++k) std::ranges::copy(from.row(k).first(size_), to.row(k).begin());
  }

  std::int64_t items_;
  SlicedGram G_;
  Backend& backend_;
  std::mt19937_64 random_{20'108};
  Resident<double> Q_;
  Matrix<double> T_;
  Resident<double> outside_;
  std::vector<std::int64_t> outside_of_;  // the columns of Q that these are the parts of
  std::int64_t size_ = 0;
  std::int64_t last_ = 0;      // where the last block of Q begins
  std::int64_t last_two_ = 0;  // and the one before it
  double largest_ = 0;         // of T's diagonal: no more than the largest eigenvalue, and soon near it
};

bool settled(const KrylovSpace::Ritz& ritz, std::int64_t count) {
  const double floor = residual_floor * ritz.pairs.s.front();
  for (std::int64_t k = 0; k < count; ++k) {
    if (ritz.residual[k] > residual_tolerance * ritz.pairs.s[k] + floor) return false;
  }
  return true;
}

/// Whether no value has risen since.
bool unchanged(std::span<const double> before, std::span<const double> now, std::int64_t count) {
  if (before.empty()) return false;
  for (std::int64_t k = 0; k < count; ++k) {
    if (now[k] - before[k] > 1e-8 * now[k] + residual_floor * now[0]) return false;
  }
  return true;
}

}  // namespace

std::int64_t krylov_size(std::int64_t items, std::int64_t count) {
  return std::min(items, 2 * count + 20 * block_width);
}

EigenPairs krylov_top_pairs(CsrView X, std::span<const float> row_weights, std::int64_t count,
                            Backend& backend, const Execution& execution) {
  if (count == 0) return {{}, Matrix<double>(X.cols, 0)};
  KrylovSpace space(X, row_weights, krylov_size(X.cols, count), backend, execution);
  Progress progress(execution.observer, "finding eigenpairs", krylov_size(X.cols, count), "directions");
  const auto extend_to = [&](std::int64_t size) {
    while (space.size() < size && !space.full()) {
      const std::int64_t before = space.size();
      space.extend(before == 0 ? block_width : 0);
      progress.advance(space.size() - before);
    }
  };
  std::vector<double> before_probe;
  std::int64_t size = count + count / 4 + 4 * block_width;
  for (;;) {
    extend_to(size);
    const KrylovSpace::Ritz ritz = space.ritz();
    stop_if_asked(execution.observer);
    const bool complete = settled(ritz, count);
    if (space.full() || (complete && unchanged(before_probe, ritz.pairs.s, count)))
      return space.pairs(ritz, count);
    if (complete) {
      before_probe = ritz.pairs.s;
      size = space.size();
      space.probe(probe_width, probe_steps);
      progress.advance(space.size() - size);
      size = space.size();
    } else {
      before_probe.clear();
      size = space.size() + space.size() / 8;
    }
  }
}

}  // namespace poise
