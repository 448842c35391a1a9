#include "poise/solver/pcg.hpp"

#include <algorithm>
#include <cmath>

#include "poise/backend/resident.hpp"

namespace poise {

namespace {

/// r'M^-1 r of a system that makes progress falls by a factor in a few iterations; one that has not for this
/// many is at the floor of its precision.
constexpr int patience = 12;

}  // namespace

template <class T>
std::vector<PcgOutcome> pcg(Operator<T>& H, Preconditioner<T>& M_inverse, std::vector<std::int32_t> systems,
                            MatrixView<T> x, MatrixView<T> r, const PcgSolved& solved, int max_iterations,
                            Backend& backend, Observer* observer) {
  /// A running system: where its x lies, and its scalars.
  struct Running {
    std::int32_t row;
    std::int32_t system;
    double rz = 0;
    double best_rz = HUGE_VAL;
    int best_at = 0;
    double gained = 0;
    bool done = false;
  };
  const auto count = static_cast<std::int64_t>(systems.size());
  std::vector<PcgOutcome> outcomes(count);
  std::vector<Running> running(count);
  for (std::int64_t k = 0; k < count; ++k)
    running[k] = {.row = static_cast<std::int32_t>(k), .system = systems[k]};
  Resident<T> p_block(backend, count, x.cols);
  Resident<T> Mp_block(backend, count, x.cols);
  Resident<T> z_block(backend, count, x.cols);  // M^-1 r, then, once p is made of it, H p
  std::vector<double> dots(count);
  std::vector<double> x_at(count);
  std::vector<double> z_at(count);
  std::vector<double> step(count);
  std::vector<double> back(count);

  for (int iteration = 0; !running.empty(); ++iteration) {
    auto active = static_cast<std::int64_t>(running.size());
    const auto finish = [&](Running& system, PcgStatus status) {
      outcomes[system.row] = {status, iteration, system.gained};
      system.done = true;
    };
    // Rows of r, p and M p stand in the order of `running`: the last one moves where one has ended.
    std::vector<std::int32_t> moved_from;
    std::vector<std::int32_t> moved_to;
    const auto drop_done = [&] {
      moved_from.clear();
      moved_to.clear();
      for (std::int64_t k = 0; k < active;) {
        if (!running[k].done) {
          ++k;
          continue;
        }
        --active;
        if (running[active].done) continue;
        if (k != active) {
          running[k] = running[active];
          systems[k] = systems[active];
          step[k] = step[active];
          moved_from.push_back(static_cast<std::int32_t>(active));
          moved_to.push_back(static_cast<std::int32_t>(k));
        }
      }
      running.resize(active);
      systems.resize(active);
      if (moved_to.empty()) return;
      for (const MatrixView<T> block : {r, p_block.view(), Mp_block.view(), z_block.view()})
        backend.copy_rows(MatrixView<const T>(block), moved_from, block, moved_to);
    };
    const auto of = [&](std::vector<double>& values) { return std::span(values).first(active); };
    std::vector<std::int32_t> rows(active);

    const MatrixView<T> z = z_block.view();
    M_inverse.apply(systems, r.block(0, active), z.block(0, active));
    for (std::int64_t k = 0; k < active; ++k) rows[k] = running[k].row;
    backend.row_dots(MatrixView<const T>(r.block(0, active)), MatrixView<const T>(z.block(0, active)),
                     of(dots));
    backend.get_entries(MatrixView<const T>(x), rows, systems, of(x_at));
    backend.get_entries(MatrixView<const T>(z.block(0, active)), {}, systems, of(z_at));
    for (std::int64_t k = 0; k < active; ++k) {
      Running& system = running[k];
      const double rz_before = system.rz;
      system.rz = dots[k];
      if (!std::isfinite(system.rz)) {
        finish(system, PcgStatus::not_finite);
      } else if (system.rz < 0) {
        finish(system, PcgStatus::not_positive_definite);
      } else if (system.rz == 0 || solved({system.system, system.rz, x_at[k], z_at[k]})) {
        finish(system, PcgStatus::solved);
      } else {
        if (system.rz < 0.5 * system.best_rz) {
          system.best_rz = system.rz;
          system.best_at = iteration;
        }
        if (iteration - system.best_at > patience) {
          finish(system, PcgStatus::stagnated);
        } else if (iteration == max_iterations) {
          finish(system, PcgStatus::out_of_iterations);
        }
      }
      step[k] = iteration == 0 ? 0.0 : system.rz / rz_before;
    }
    drop_done();
    if (running.empty()) break;

    const MatrixView<T> p = p_block.view().block(0, active);
    const MatrixView<T> Mp = Mp_block.view().block(0, active);
    const MatrixView<T> residual = r.block(0, active);
    backend.combine(std::vector<Term<T>>{{.x = z.block(0, active)}, {.x = p, .rows = of(step)}}, p);
    backend.combine(std::vector<Term<T>>{{.x = residual}, {.x = Mp, .rows = of(step)}}, Mp);
    const MatrixView<T> Hp = z.block(0, active);
    H.apply(systems, p, Mp, Hp);
    backend.row_dots(MatrixView<const T>(p), MatrixView<const T>(Hp), of(dots));
    for (std::int64_t k = 0; k < active; ++k) {
      Running& system = running[k];
      const double pHp = dots[k];
      step[k] = 0;
      if (!std::isfinite(pHp)) {
        finish(system, PcgStatus::not_finite);
      } else if (pHp <= 0) {
        finish(system, PcgStatus::not_positive_definite);
      } else {
        step[k] = system.rz / pHp;
        system.gained += step[k] * system.rz;
      }
      back[k] = -step[k];
    }
    // A system that ends here has a step of 0.
    rows.resize(active);
    for (std::int64_t k = 0; k < active; ++k) rows[k] = running[k].row;
    backend.add_rows(of(step), MatrixView<const T>(p), x, rows);
    backend.combine(std::vector<Term<T>>{{.x = residual}, {.x = Hp, .rows = of(back)}}, residual);
    drop_done();
    stop_if_asked(observer);
  }
  return outcomes;
}

template std::vector<PcgOutcome> pcg(Operator<float>&, Preconditioner<float>&, std::vector<std::int32_t>,
                                     MatrixView<float>, MatrixView<float>, const PcgSolved&, int, Backend&,
                                     Observer*);
template std::vector<PcgOutcome> pcg(Operator<double>&, Preconditioner<double>&, std::vector<std::int32_t>,
                                     MatrixView<double>, MatrixView<double>, const PcgSolved&, int, Backend&,
                                     Observer*);

}  // namespace poise
