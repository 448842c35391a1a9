#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/observer.hpp"
#include "poise/solver/linear_operator.hpp"

namespace poise {

/// How one system ended. Everything but `solved` is a reason, not an error.
enum class PcgStatus { solved, out_of_iterations, not_positive_definite, not_finite, stagnated };

struct PcgOutcome {
  PcgStatus status = PcgStatus::out_of_iterations;
  int iterations = 0;
  double gained = 0;  ///< the decrease of x'Hx - 2 y'x, from the recurrences
};

/// The input of the stopping rule for one system: r'M^-1 r, and entry number `system` of the iterate x and of
/// z = M^-1 r (a system of columns is numbered by the item that is its own coordinate).
struct PcgState {
  std::int32_t system;
  double rz;
  double x;
  double z;
};

struct StoppingRule {
  std::function<bool(const PcgState&)> solved;
  int max_iterations;
};

/// out_k = x_k'y_k over rows, summed in float64. If several processes hold parts of the vectors, they
/// exchange sums here.
template <class T>
using InnerProduct = std::function<void(In<T> x, In<T> y, std::span<double> out)>;

/// The inner product within one process.
template <class T>
InnerProduct<T> inner_product(Backend& backend) {
  return [&](In<T> x, In<T> y, std::span<double> out) { backend.row_dots(x, y, out); };
}

/// Preconditioned conjugate gradients (the paper's algorithm 1) on a block of independent systems, each with
/// its own step lengths and its own stopping. On entry row k of x is the start of system systems[k] and row k
/// of r its residual y - H x; on exit x is the solution and r is overwritten. Each iteration applies M^-1 and
/// H once to the systems still running; M p follows from M z = r without a product:
///
///     p <- z + beta p,   M p <- r + beta M p,   beta = r'z / (r'z before).
///
/// All blocks lie in the backend's memory. Memory: three blocks beyond x and r.
template <class T>
std::vector<PcgOutcome> pcg(LinearOperator<T>& H, LinearOperator<T>& M_inverse,
                            std::vector<std::int32_t> systems, Out<T> x, Out<T> r, const StoppingRule& rule,
                            const InnerProduct<T>& inner, Backend& backend, Observer* observer);

}  // namespace poise
