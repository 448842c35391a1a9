#pragma once

#include <cstdint>
#include <span>

#include "poise/backend/device.hpp"

namespace poise {

/// A block of vectors of length n, one per row; vector k belongs to operator number systems[k].
template <class T>
struct Vectors {
  std::span<const std::int32_t> systems;
  In<T> x;
  /// M x if it is known without a product, as in preconditioned conjugate gradients; M is the inverse of the
  /// preconditioner. A system that is M plus a sparse correction then costs only the correction.
  In<T> Mx = {};
};

/// A family of symmetric linear operators of one size n, numbered: a system, or a preconditioner, which is
/// the inverse of an approximation of the system.
template <class T>
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;
  /// out_k = A_systems[k] x_k.
  virtual void apply(const Vectors<T>& vectors, Out<T> out) = 0;
};

}  // namespace poise
