#include "poise/backend/cpu/kernel_speed.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "poise/linalg/dense_kernels.hpp"
#include "poise/linalg/serial_blas.hpp"
#include "poise/linalg/simd.hpp"

// Vectors are passed only between functions that are inlined, so no calling convention is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace poise {
namespace {

/// Independent sums: as many as hide the latency of two units.
constexpr int sums = 12;
constexpr std::int64_t steps = 100'000;
constexpr int repetitions = 4;

using Four [[gnu::vector_size(4 * sizeof(float))]] = float;
using Eight [[gnu::vector_size(8 * sizeof(float))]] = float;
using Sixteen [[gnu::vector_size(16 * sizeof(float))]] = float;

template <class Lane>
POISE_INLINE float multiply_and_add() {
  const Lane factor = Lane{} + 0.5F;
  const Lane term = Lane{} + 1.0F;
  Lane sum[sums];
  for (int k = 0; k < sums; ++k)
    sum[k] = Lane{} + static_cast<float>(k);  // the compiler would merge equal ones
  for (std::int64_t step = 0; step < steps; ++step) {
    for (Lane& each : sum) each = each * factor + term;
  }
  float total = 0;
  for (const Lane& each : sum) total += each[0];
  return total;
}

struct Version {
  float (*run)();
  int lanes;
};

Version widest_version() {
  constexpr int lanes[] = {4, 8, 16};
  return {simd::version<multiply_and_add<Four>, multiply_and_add<Eight>, multiply_and_add<Sixteen>>(),
          lanes[static_cast<int>(simd::processor_set())]};
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Operations per second of the fastest run.
template <class Run>
double best_rate(double operations, Run run) {
  double best = 0;
  for (int k = 0; k < repetitions; ++k) {
    const double begin = processor_seconds();
    run();
    best = std::max(best, operations / std::max(1e-9, processor_seconds() - begin));
  }
  return best;
}

double multiply_add_rate() {
  const Version version = widest_version();
  volatile float kept = 0;  // keeps the compiler from removing the work
  return best_rate(2.0 * sums * version.lanes * steps, [&] { kept = version.run(); });
}

double blas_rate() {
  constexpr std::int64_t size = 512;
  const SerialBlas serial;
  const Matrix<float> a(size, size, 1.0F);
  Matrix<float> c(size, size);
  return best_rate(2.0 * size * size * size, [&] { dense::add_product(1.0F, a.view(), a.view(), c.view()); });
}

}  // namespace

KernelSpeed kernel_speed() { return {.product = blas_rate(), .multiply_add = multiply_add_rate()}; }

}  // namespace poise
