#include "poise/solver/pcg.hpp"

#include <cmath>
#include <initializer_list>
#include <utility>

#include "poise/backend/resident.hpp"
#include "poise/linalg/conjugate_gradients.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/linalg/vector.hpp"

namespace poise {

/// The systems of a block that still run, in the order of the blocks' rows. A system ends in test() or in
/// step(); compact() then moves the last row to its place.
struct RunningSystems {
  struct Progress {
    ConjugateGradients scalars;
    double best_rz = HUGE_VAL;
    int best_at = 0;
    bool ended = false;
  };
  const StoppingRule& rule;
  std::vector<std::int32_t> systems;
  std::vector<PcgOutcome> outcomes = std::vector<PcgOutcome>(systems.size());
  std::vector<std::int32_t> rows = numbers_from(0, std::ssize(systems));  ///< of the solutions
  std::vector<Progress> running = std::vector<Progress>(systems.size());
  std::vector<double> beta = {};
  std::vector<double> alpha = {};  ///< 0 where a system ended
  int iteration = 0;

  [[nodiscard]] std::int64_t size() const { return std::ssize(systems); }

  void end(std::int64_t k, PcgStatus status) {
    outcomes[rows[k]] = {status, iteration, running[k].scalars.explained};
    running[k].ended = true;
  }

  /// Whether r'z of a system has not halved for stagnation_iterations.
  [[nodiscard]] bool stagnates(Progress& system) const {
    if (system.scalars.rz < 0.5 * system.best_rz) {
      system.best_rz = system.scalars.rz;
      system.best_at = iteration;
    }
    return iteration - system.best_at > stagnation_iterations;
  }

  /// Ends systems that are solved, stagnate, or have broken down; sets beta of the others. `x` and `z` are
  /// each system's own entries, see PcgState.
  void test(std::span<const double> rz, std::span<const double> x, std::span<const double> z) {
    beta.assign(size(), 0.0);
    for (std::int64_t k = 0; k < size(); ++k) {
      beta[k] = running[k].scalars.turn(rz[k]);
      if (!std::isfinite(rz[k])) {
        end(k, PcgStatus::not_finite);
      } else if (rz[k] < 0) {
        end(k, PcgStatus::not_positive_definite);
      } else if (rz[k] == 0 || rule.solved({systems[k], rz[k], x[k], z[k]})) {
        end(k, PcgStatus::solved);
      } else if (stagnates(running[k])) {
        end(k, PcgStatus::stagnated);
      } else if (iteration == rule.max_iterations) {
        end(k, PcgStatus::out_of_iterations);
      }
    }
  }

  /// Sets alpha; ends systems that are not positive along p.
  void step(std::span<const double> pHp) {
    alpha.assign(size(), 0.0);
    for (std::int64_t k = 0; k < size(); ++k) {
      if (!std::isfinite(pHp[k])) {
        end(k, PcgStatus::not_finite);
      } else if (!running[k].scalars.step(pHp[k])) {
        end(k, PcgStatus::not_positive_definite);
      } else {
        alpha[k] = running[k].scalars.alpha;
      }
    }
    ++iteration;
  }

  /// Removes the systems that have ended: in each block the last rows move to their places.
  template <class T>
  void compact(std::initializer_list<Out<T>> blocks, Backend& backend) {
    std::vector<std::int32_t> from;
    std::vector<std::int32_t> to;
    std::int64_t active = size();
    for (std::int64_t k = 0; k < active;) {
      if (!running[k].ended) {
        ++k;
      } else if (!running[--active].ended) {
        running[k] = running[active];
        systems[k] = systems[active];
        rows[k] = rows[active];
        beta[k] = beta[active];
        from.push_back(static_cast<std::int32_t>(active));
        to.push_back(static_cast<std::int32_t>(k));
      }
    }
    running.resize(active);
    systems.resize(active);
    rows.resize(active);
    beta.resize(active);
    if (to.empty()) return;
    for (const Out<T> block : blocks) backend.copy_rows(In<T>(block), from, block, to);
  }
};

template <class T>
std::vector<PcgOutcome> pcg(LinearOperator<T>& H, LinearOperator<T>& M_inverse,
                            std::vector<std::int32_t> systems, Out<T> x, Out<T> r_block,
                            const StoppingRule& rule, const InnerProduct<T>& inner, Backend& backend,
                            Observer* observer) {
  const std::int64_t count = std::ssize(systems);
  RunningSystems running{rule, std::move(systems)};
  Resident<T> p_block(backend, count, x.cols);
  Resident<T> Mp_block(backend, count, x.cols);
  Resident<T> z_block(backend, count, x.cols);  // M^-1 r; overwritten by H p once p is computed
  std::vector<double> dots;
  const auto of_running = [&](Out<T> block) { return block.block(0, running.size()); };
  const auto product = [&](Out<T> a, Out<T> b) {
    dots.resize(running.size());
    inner(a, b, dots);
    return std::span<const double>(dots);
  };
  const auto own_entries = [&](In<T> vectors, std::span<const std::int32_t> rows) {
    std::vector<double> entries(running.size());
    backend.get_entries(vectors, rows, running.systems, entries);
    return entries;
  };

  while (running.size() > 0) {
    Out<T> r = of_running(r_block);
    Out<T> z = of_running(z_block.view());
    M_inverse.apply({running.systems, r}, z);
    running.test(product(r, z), own_entries(x, running.rows), own_entries(z, {}));
    running.compact({r_block, p_block.view(), Mp_block.view(), z_block.view()}, backend);
    if (running.size() == 0) break;

    r = of_running(r_block);
    z = of_running(z_block.view());
    const Out<T> p = of_running(p_block.view());
    const Out<T> Mp = of_running(Mp_block.view());
    backend.combine(std::vector<Term<T>>{{.x = z}, {.x = p, .rows = running.beta}}, p);
    backend.combine(std::vector<Term<T>>{{.x = r}, {.x = Mp, .rows = running.beta}}, Mp);
    const Out<T> Hp = z;
    H.apply({running.systems, p, Mp}, Hp);
    running.step(product(p, Hp));
    backend.add_rows(running.alpha, In<T>(p), x, running.rows);
    backend.combine(std::vector<Term<T>>{{.x = r}, {.x = Hp, .scale = -1, .rows = running.alpha}}, r);
    running.compact({r_block, p_block.view(), Mp_block.view()}, backend);
    stop_if_asked(observer);
  }
  return std::move(running.outcomes);
}

template std::vector<PcgOutcome> pcg(LinearOperator<float>&, LinearOperator<float>&,
                                     std::vector<std::int32_t>, Out<float>, Out<float>, const StoppingRule&,
                                     const InnerProduct<float>&, Backend&, Observer*);
template std::vector<PcgOutcome> pcg(LinearOperator<double>&, LinearOperator<double>&,
                                     std::vector<std::int32_t>, Out<double>, Out<double>, const StoppingRule&,
                                     const InnerProduct<double>&, Backend&, Observer*);

}  // namespace poise
