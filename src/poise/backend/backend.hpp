#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/recommend/ranked_lists.hpp"

namespace poise {

/// op(A) = A or A'.
enum class Op { none, transpose };

/// The large primitives that models and solvers are written over. What one backend returns for one input is
/// always the same, bit for bit, whatever the thread count; two backends agree up to rounding. Called from
/// one thread at a time. Shapes that do not fit are a programmer's error.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// C = alpha op(A) op(B) + beta C. With beta = 0, C is not read. 2 rows cols inner flops.
  virtual void gemm(Op op_a, Op op_b, float alpha, MatrixView<const float> a, MatrixView<const float> b,
                    float beta, MatrixView<float> c) = 0;
  virtual void gemm(Op op_a, Op op_b, double alpha, MatrixView<const double> a, MatrixView<const double> b,
                    double beta, MatrixView<double> c) = 0;

  /// G = X' diag(a) X with X the 0/1 support of `x` (its values are ignored); all of the symmetric G is
  /// written. `row_weights` is a, one for each row of x, or empty for a = 1. Added up in float64, or counted
  /// exactly when a = 1, then rounded once. sum over rows of |row|^2 operations.
  virtual void gram(CsrView x, std::span<const float> row_weights, MatrixView<float> g) = 0;

  /// Y = X B; without values every stored entry of X is 1. Added up in float64, then rounded once.
  /// 2 entries(X) cols(B) operations.
  virtual void spmm(CsrView x, MatrixView<const float> b, MatrixView<float> y) = 0;

  /// The k best columns of each row of scores, leaving out those stored in the same row of `excluded`; order,
  /// NaN and short lists as in recommend/top_k.hpp.
  virtual RankedLists top_k(MatrixView<const float> scores, CsrView excluded, std::int64_t k) = 0;
};

enum class BackendKind { reference, cpu };

/// "reference", "cpu".
std::string_view to_string(BackendKind kind);

/// The reference backend (plain loops, the oracle of all others) always runs on one thread.
std::unique_ptr<Backend> make_backend(BackendKind kind, int threads);

}  // namespace poise
