#pragma once

#include "poise/backend/cuda/row_systems.cuh"
#include "poise/backend/row_route.hpp"

namespace poise::cuda {

/// The outcome of a row.
struct RowOutcome {
  double explained_before;
  double gain;
  double excess_before;
  int iterations;
  int direct;
};

struct Solve {
  RowSystemsView systems;
  double lowest;
  double condition;  ///< hi / lo
  bool counted;      ///< rows that a factorization would solve sooner are solved exactly
  double relative;   ///< both times `lowest`
  double absolute;
  Out<float> y;
  RowOutcome* outcomes;
};

struct Diagonal {
  float D;
  float inverse;
};

__device__ inline Diagonal diagonal(double b, double sigma, double lambda) {
  const auto D = static_cast<float>(b * sigma + lambda);
  const float inverse = 1 / D;
  if (!(D > 0) || !isfinite(inverse)) return {0, 0};
  return {D, inverse};
}

/// A block's row: its vectors and where they lie.
template <class Pass>
struct RowState {
  const Solve& solve;
  std::int64_t row;
  In<float> factors;
  RowEntriesView entries;
  double b;
  double lambda;
  int d;
  double* sums;
  double* scratch;
  float* r;
  float* p;
  float* y;
  ConjugateGradients scalars = {};  ///< `explained` being that of y itself

  static std::int64_t bytes(std::int64_t d) { return Pass::bytes(d) + 8 * 32 + 8 * Pass::padded(d); }

  __device__ RowState(const Solve& all, std::int64_t number, double* shared)
      : solve(all),
        row(number),
        factors(all.systems.factors),
        entries(row_entries(all.systems.entries, all.systems.c, all.systems.w, number)),
        b(all.systems.b_of(number)),
        lambda(all.systems.lambda_of(number)),
        d(static_cast<int>(all.systems.factors.cols)),
        sums(shared),
        scratch(shared + Pass::bytes(d) / 8),
        r(reinterpret_cast<float*>(scratch + 32)),
        p(r + Pass::padded(d)),
        y(all.y.data + number * all.y.stride) {}

  [[nodiscard]] __device__ Diagonal at(int k) const { return diagonal(b, solve.systems.sigma[k], lambda); }
  [[nodiscard]] __device__ double target() const {
    return solve.relative * (scalars.explained > 0 ? scalars.explained : 0.0) + solve.absolute;
  }
  [[nodiscard]] __device__ double total(double value) const {
    return block_total<Pass::warps>(value, scratch);
  }

  /// r, rz, the first direction p and what the start explains.
  __device__ void begin() {
    constexpr int block = 32 * Pass::warps;
    const int padded = static_cast<int>(Pass::padded(d));
    for (int k = static_cast<int>(threadIdx.x); k < padded; k += block) {
      float value = 0;
      if (k < d) {
        value = at(k).D > 0 ? y[k] : 0.0F;
        y[k] = value;
      }
      p[k] = value;
      r[k] = 0;
    }
    block_sync<Pass::warps>();
    double part = Pass::template run<false>(entries, factors, p, sums);
    double quadratic = 0;
    double dot = 0;
    for (int k = static_cast<int>(threadIdx.x); k < d; k += block) {
      const Diagonal own = at(k);
      const double Dy = static_cast<double>(own.D) * static_cast<double>(p[k]);
      quadratic += Dy * static_cast<double>(p[k]);
      r[k] = static_cast<float>(sums[k] - Dy);
      p[k] = r[k] * own.inverse;
      dot += static_cast<double>(r[k]) * static_cast<double>(p[k]);
    }
    scalars.explained = total(part - quadratic);
    scalars.turn(total(dot));
  }

  /// Conjugate gradients until the row is solved or, if it is to be exact, as far as float32 allows.
  __device__ void iterate() {
    constexpr int block = 32 * Pass::warps;
    const std::int64_t smaller = entries.count < d ? entries.count : d;
    const int limit = 2 * smaller + 8 < 500 ? static_cast<int>(2 * smaller + 8) : 500;
    const bool corrected = entries.c != nullptr;
    const bool exact =
        solve.counted && corrected && solved_exactly(d, entries.count, solve.condition, scalars.rz, target());
    const double least = exact ? 1e-12 * scalars.rz : 0.0;
    RowEntriesView system = entries;
    system.w = nullptr;
    while (scalars.rz > (exact && scalars.steps > 0 ? least : target()) && scalars.steps < limit) {
      block_sync<Pass::warps>();
      if (corrected) Pass::template run<false>(system, factors, p, sums);
      double dot = 0;
      for (int k = static_cast<int>(threadIdx.x); k < d; k += block) {
        const double Dp = static_cast<double>(at(k).D) * static_cast<double>(p[k]);
        const auto Hp = static_cast<float>(corrected ? Dp - sums[k] : Dp);
        sums[k] = static_cast<double>(Hp);
        dot += static_cast<double>(p[k]) * static_cast<double>(Hp);
      }
      if (!scalars.step(total(dot))) break;
      const auto alpha = static_cast<float>(scalars.alpha);
      dot = 0;
      for (int k = static_cast<int>(threadIdx.x); k < d; k += block) {
        y[k] += alpha * p[k];
        r[k] -= alpha * static_cast<float>(sums[k]);
        const float z = r[k] * at(k).inverse;
        sums[k] = static_cast<double>(z);
        dot += static_cast<double>(r[k]) * static_cast<double>(z);
      }
      const auto beta = static_cast<float>(scalars.turn(total(dot)));
      for (int k = static_cast<int>(threadIdx.x); k < d; k += block)
        p[k] = static_cast<float>(sums[k]) + beta * p[k];
    }
  }

  /// After begin(): false if the row is solved already; sets `explained_before` in both cases.
  __device__ bool goes_on(RowOutcome& outcome) {
    outcome = {scalars.explained, 0, scalars.rz / solve.lowest, 0, 0};
    if (entries.count > 0) return true;
    // The right-hand side is 0, so 0 is the solution, even if the start meets the tolerance.
    for (int k = static_cast<int>(threadIdx.x); k < d; k += 32 * Pass::warps) y[k] = 0;
    scalars.explained = 0;
    return false;
  }

  __device__ void finish(RowOutcome outcome) const {
    outcome.gain = scalars.explained - outcome.explained_before;
    outcome.iterations = scalars.steps;
    if (threadIdx.x == 0) solve.outcomes[row] = outcome;
  }
};

void launch_direct(CudaBackend& backend, const Solve& solve);

}  // namespace poise::cuda
