#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/backend/power_start.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/mirror.hpp"
#include "poise/linalg/serial_blas.hpp"
#include "poise/linalg/sweep_panel.hpp"
#include "poise/linalg/vector.hpp"

namespace poise {
namespace {

/// An estimate from below of the largest eigenvalue of a symmetric positive definite matrix, by power
/// iteration from a fixed vector; not finite where an entry is not.
template <class T>
double largest_eigenvalue(MatrixView<T> a, int threads) {
  constexpr int steps = 12;
  std::vector<double> x = power_start(a.rows);
  std::vector<double> y(a.rows);
  const Tiling tiling{a.rows, 64};
  double norm = 1;
  double value = 0;
  for (int step = 0; step < steps && norm > 0; ++step) {
    for_each_row(tiling, threads, [&](std::int64_t i) {
      y[i] = dot(std::span<const T>(a.row(i)), std::span<const double>(x)) / norm;
    });
    std::swap(x, y);
    double squares = 0;
    for (const double entry : x) squares += entry * entry;
    norm = std::sqrt(squares);
    value = norm;
  }
  return value;
}

/// The sweep (linalg/sweep_panel.hpp) of a whole matrix.
template <class T>
class Sweep {
 public:
  Sweep(MatrixView<T> a, int threads)
      : a_(a),
        threads_(threads),
        blocks_{a.rows, a.rows < 4096 ? 128 : 512},
        panel_data_(std::make_unique_for_overwrite<T[]>(a.rows * panel_stride())),
        diagonal_data_(Matrix<T>::uninitialized(std::min(blocks_.size, a.rows), panel_stride())) {}

  bool run(Observer* observer) {
    Progress progress(observer, "inverting", blocks_.tiles(), "blocks");
    for (std::int64_t k = 0; k < blocks_.tiles(); ++k) {
      sweep::copy(tile(k, k), diagonal(k));
      if (!dense::factor_upper(diagonal(k))) return false;
      for_each_tile(blocks_.tiles(), threads_, [&](std::int64_t i) { form_panel(i, k); });
      if (!update(k)) return false;
      progress.advance(1);
    }
    return true;
  }

 private:
  /// The products of block row i with block columns [first, last).
  struct Strip {
    std::int64_t i, first, last;
  };
  static constexpr std::int64_t strip_blocks = 4;

  [[nodiscard]] std::int64_t panel_stride() const { return sweep::panel_stride(blocks_.size); }
  [[nodiscard]] std::int64_t width(std::int64_t i) const { return blocks_.last(i) - blocks_.first(i); }
  [[nodiscard]] MatrixView<T> tile(std::int64_t i, std::int64_t j) const {
    return dense::part(a_, blocks_.first(i), width(i), blocks_.first(j), width(j));
  }
  [[nodiscard]] MatrixView<T> panel(std::int64_t first, std::int64_t last, std::int64_t k) const {
    const std::int64_t row = blocks_.first(first);
    return {panel_data_.get() + row * panel_stride(), blocks_.last(last - 1) - row, width(k), panel_stride()};
  }

  /// S_kk, then U, then the inverse, in the upper triangle.
  [[nodiscard]] MatrixView<T> diagonal(std::int64_t k) {
    return {diagonal_data_.view().data, width(k), width(k), panel_stride()};
  }

  void form_panel(std::int64_t i, std::int64_t k) {
    if (i == k) return;
    sweep::form_panel(i < k, diagonal(k), i < k ? tile(i, k) : tile(k, i), panel(i, i + 1, k));
  }

  [[nodiscard]] bool update(std::int64_t k) {
    std::vector<Strip> strips;
    const auto cut = [&](std::int64_t i, std::int64_t first, std::int64_t last) {
      for (; first < last; first += strip_blocks) {
        strips.push_back({i, first, std::min(first + strip_blocks, last)});
      }
    };
    for (std::int64_t i = 0; i < blocks_.tiles(); ++i) {
      if (i == k) continue;
      cut(i, i, k);
      cut(i, std::max(i, k + 1), blocks_.tiles());
    }
    bool inverted = false;
    for_each_tile(1 + static_cast<std::int64_t>(strips.size()), threads_, [&](std::int64_t task) {
      if (task == 0) {
        inverted = dense::invert_factored(diagonal(k));
        sweep::copy(diagonal(k), tile(k, k));
      } else {
        add_products(strips[task - 1], k);
      }
    });
    return inverted;
  }

  void add_products(Strip strip, std::int64_t k) const {
    const T sign = strip.last <= k ? T{1} : T{-1};
    const MatrixView<T> left = panel(strip.i, strip.i + 1, k);
    const MatrixView<T> right = panel(strip.first, strip.last, k);
    sweep::add_products(
        sign, strip.first == strip.i, left, right,
        dense::part(a_, blocks_.first(strip.i), left.rows, blocks_.first(strip.first), right.rows));
  }

  MatrixView<T> a_;
  int threads_;
  Tiling blocks_;
  std::unique_ptr<T[]> panel_data_;
  Matrix<T> diagonal_data_;
};

template <class T>
SpdInverse blocked_inverse(MatrixView<T> a, int threads, Observer* observer) {
  assert(a.rows == a.cols);
  const double largest = largest_eigenvalue(a, threads);
  if (!std::isfinite(largest)) return {};
  {
    const SerialBlas serial;
    if (!Sweep<T>(a, threads).run(observer)) return {};
  }
  mirror_upper(a, threads);
  const double condition = largest * largest_eigenvalue(a, threads);
  return {.positive_definite = std::isfinite(condition), .condition = condition};
}

}  // namespace

SpdInverse CpuBackend::invert_spd(Out<float> a) { return blocked_inverse(a.host(), threads_, observer_); }
SpdInverse CpuBackend::invert_spd(Out<double> a) { return blocked_inverse(a.host(), threads_, observer_); }

}  // namespace poise
