#include "poise/solver/pcg.hpp"

#include <algorithm>
#include <cmath>

#include "poise/linalg/vector.hpp"

namespace poise {

namespace {

/// r'M^-1 r of a system that makes progress falls by a factor in a few iterations; one that has not for this
/// many is at the floor of its precision.
constexpr int patience = 12;

/// A running system: where its x lies, and its scalars.
struct Running {
  std::int64_t row;
  std::int32_t system;
  double rz = 0;
  double best_rz = HUGE_VAL;
  int best_at = 0;
  bool done = false;
};

template <class T>
std::span<const T> readable(MatrixView<T> matrix, std::int64_t row) {
  return matrix.row(row);
}

}  // namespace

template <class T>
std::vector<PcgOutcome> pcg(Operator<T>& H, Preconditioner<T>& M_inverse, std::vector<std::int32_t> systems,
                            MatrixView<T> x, MatrixView<T> r, const PcgSolved<T>& solved, int max_iterations,
                            const Execution& execution) {
  const auto count = static_cast<std::int64_t>(systems.size());
  std::vector<PcgOutcome> outcomes(count);
  std::vector<Running> running(count);
  for (std::int64_t k = 0; k < count; ++k) running[k] = {.row = k, .system = systems[k]};
  Matrix<T> p_block(count, x.cols);
  Matrix<T> Mp_block(count, x.cols);
  Matrix<T> z_block(count, x.cols);  // M^-1 r, then, once p is made of it, H p

  for (int iteration = 0; !running.empty(); ++iteration) {
    auto active = static_cast<std::int64_t>(running.size());
    const auto finish = [&](Running& system, PcgStatus status) {
      outcomes[system.row] = {status, iteration};
      system.done = true;
    };
    // Rows of r, p and M p stand in the order of `running`: the last one moves where one has ended.
    const auto drop_done = [&] {
      for (std::int64_t k = 0; k < active;) {
        if (!running[k].done) {
          ++k;
          continue;
        }
        --active;
        if (k != active) {
          running[k] = running[active];
          systems[k] = systems[active];
          for (const MatrixView<T> block : {r, p_block.view(), Mp_block.view(), z_block.view()}) {
            std::copy_n(block.row(active).data(), block.cols, block.row(k).data());
          }
        }
      }
      running.resize(active);
      systems.resize(active);
    };

    const MatrixView<T> z = z_block.view();
    M_inverse.apply(systems, r.block(0, active), z.block(0, active));
    for_each_tile(active, execution.threads, [&](std::int64_t k) {
      Running& system = running[k];
      const double rz_before = system.rz;
      system.rz = dot(readable(r, k), readable(z, k));
      if (!std::isfinite(system.rz)) return finish(system, PcgStatus::not_finite);
      if (system.rz < 0) return finish(system, PcgStatus::not_positive_definite);
      if (system.rz == 0 || solved({system.system, system.rz, x.row(system.row), z.row(k)})) {
        return finish(system, PcgStatus::solved);
      }
      if (system.rz < 0.5 * system.best_rz) {
        system.best_rz = system.rz;
        system.best_at = iteration;
      }
      if (iteration - system.best_at > patience) return finish(system, PcgStatus::stagnated);
      if (iteration == max_iterations) return finish(system, PcgStatus::out_of_iterations);
      const auto beta = static_cast<T>(iteration == 0 ? 0.0 : system.rz / rz_before);
      scale_and_add(beta, readable(z, k), p_block.row(k));
      scale_and_add(beta, readable(r, k), Mp_block.row(k));
    });
    drop_done();
    if (running.empty()) break;

    const MatrixView<T> Hp = z_block.view();
    H.apply(systems, p_block.view().block(0, active), Mp_block.view().block(0, active), Hp.block(0, active));
    for_each_tile(active, execution.threads, [&](std::int64_t k) {
      Running& system = running[k];
      const double pHp = dot(readable(p_block.view(), k), readable(Hp, k));
      if (!std::isfinite(pHp)) return finish(system, PcgStatus::not_finite);
      if (pHp <= 0) return finish(system, PcgStatus::not_positive_definite);
      const auto alpha = static_cast<T>(system.rz / pHp);
      add_scaled(alpha, readable(p_block.view(), k), x.row(system.row));
      add_scaled(-alpha, readable(Hp, k), r.row(k));
    });
    drop_done();
    stop_if_asked(execution.observer);
  }
  return outcomes;
}

template std::vector<PcgOutcome> pcg(Operator<float>&, Preconditioner<float>&, std::vector<std::int32_t>,
                                     MatrixView<float>, MatrixView<float>, const PcgSolved<float>&, int,
                                     const Execution&);
template std::vector<PcgOutcome> pcg(Operator<double>&, Preconditioner<double>&, std::vector<std::int32_t>,
                                     MatrixView<double>, MatrixView<double>, const PcgSolved<double>&, int,
                                     const Execution&);

}  // namespace poise
