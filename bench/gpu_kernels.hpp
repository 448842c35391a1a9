#pragma once

#include <chrono>

#include "poise/backend/resident.hpp"

namespace poise {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Random numbers.
Matrix<float> random_square(std::int64_t n, int threads);

/// The rates of a matrix product and of a copy on a backend, measured at the start, and the share of these
/// rates that the main kernels of a case reach.
class KernelRates {
 public:
  KernelRates(Backend& backend, int threads);

  [[nodiscard]] double product() const { return product_; }  ///< operations a second
  [[nodiscard]] double copy() const { return copy_; }        ///< bytes a second

  /// An inversion of X'X + 500 I, n^3 operations, relative to the rate of a product.
  [[nodiscard]] double inverse_share(CsrView X) const;
  /// A^-1 r of n x n, relative to the rate of a product.
  [[nodiscard]] double product_share(std::int64_t n) const;
  /// Reading the item lists of the columns' users once, 4 bytes an item, relative to the rate of a copy.
  [[nodiscard]] double hessian_share(CsrView X, CsrView transposed) const;
  /// Reading every entry's row of the factor once and writing the result, relative to the rate of a copy.
  [[nodiscard]] double spmm_share(CsrView X, std::int64_t rank) const;
  [[nodiscard]] double scoring_share(CsrView histories, MatrixView<const float> B) const;
  /// Reading the scores once.
  [[nodiscard]] double top_k_share(CsrView histories) const;

  /// Waits for the GPU by copying a part of the result to the host.
  void finish(In<float> x) const;

 private:
  /// The shortest of three runs of a kernel, in seconds; `out` is a matrix that it writes.
  template <class Body>
  double time_kernel(In<float> out, const Body& body) const;

  Backend& backend_;
  int threads_;
  double product_ = 0;
  double copy_ = 0;
};

}  // namespace poise
