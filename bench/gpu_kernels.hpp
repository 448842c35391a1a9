#pragma once

#include <chrono>

#include "poise/backend/resident.hpp"

namespace poise {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Numbers of no meaning.
Matrix<float> random_square(std::int64_t n, int threads);

/// What a backend reaches with a matrix product and with a copy, measured at the start, and what share of
/// these the kernels reach that dominate a case.
class KernelRates {
 public:
  KernelRates(Backend& backend, int threads);

  [[nodiscard]] double product() const { return product_; }  ///< operations a second
  [[nodiscard]] double copy() const { return copy_; }        ///< bytes a second

  /// n^3 operations of an inversion of X'X + 500 I, of the rate of a product.
  [[nodiscard]] double inverse_share(CsrView X) const;
  /// A^-1 r of n x n, of the rate of a product.
  [[nodiscard]] double product_share(std::int64_t n) const;
  /// The item lists of the columns' users, read once at 4 bytes an item, of the rate of a copy.
  [[nodiscard]] double hessian_share(CsrView X, CsrView transposed) const;
  /// Every entry's row of the factor read once, and the result written, of the rate of a copy.
  [[nodiscard]] double spmm_share(CsrView X, std::int64_t rank) const;
  [[nodiscard]] double scoring_share(CsrView histories, MatrixView<const float> B) const;
  /// The scores read once.
  [[nodiscard]] double top_k_share(CsrView histories) const;

  /// Waits for what was started: something of the result comes to the host.
  void finish(MatrixView<const float> x) const;

 private:
  /// The shortest of three runs of a kernel, in seconds; `out` is something that it writes.
  template <class Body>
  double time_kernel(MatrixView<const float> out, const Body& body) const;

  Backend& backend_;
  int threads_;
  double product_ = 0;
  double copy_ = 0;
};

}  // namespace poise
