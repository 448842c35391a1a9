#pragma once

#include <cstdint>
#include <span>

#include "poise/linalg/matrix.hpp"

namespace poise {

/// A family of symmetric systems of one size n, numbered; blocks of vectors hold one vector of length n per
/// row, and `systems` says which system each row belongs to. H is the system, M its preconditioner.
template <class T>
class Operator {
 public:
  virtual ~Operator() = default;
  /// out_k = H p_k. `Mp` holds M p_k, which preconditioned conjugate gradients have without a product, so
  /// that a system that is M plus a sparse correction costs only the correction.
  virtual void apply(std::span<const std::int32_t> systems, MatrixView<const T> p, MatrixView<const T> Mp,
                     MatrixView<T> out) = 0;
};

/// The inverse of an approximation M of H; it is an operator like any other, on residuals.
template <class T>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// z_k = M^-1 r_k.
  virtual void apply(std::span<const std::int32_t> systems, MatrixView<const T> r, MatrixView<T> z) = 0;
};

}  // namespace poise
