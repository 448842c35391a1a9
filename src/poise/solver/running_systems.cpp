#include "poise/solver/running_systems.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "poise/linalg/precision.hpp"

namespace poise {

RunningSystems::RunningSystems(std::vector<std::int32_t> systems, const StoppingRule& rule)
    : rule_(rule),
      outcomes_(systems.size()),
      systems_(std::move(systems)),
      rows_(systems_.size()),
      running_(systems_.size(), {.best_rz = HUGE_VAL}) {
  std::iota(rows_.begin(), rows_.end(), 0);
}

void RunningSystems::test(std::span<const double> rz, std::span<const double> x, std::span<const double> z) {
  beta_.assign(size(), 0.0);
  for (std::int64_t k = 0; k < size(); ++k) {
    System& system = running_[k];
    beta_[k] = system.scalars.turn(rz[k]);
    if (!std::isfinite(rz[k])) {
      end(k, PcgStatus::not_finite);
    } else if (rz[k] < 0) {
      end(k, PcgStatus::not_positive_definite);
    } else if (rz[k] == 0 || rule_.solved({systems_[k], rz[k], x[k], z[k]})) {
      end(k, PcgStatus::solved);
    } else if (stagnates(system)) {
      end(k, PcgStatus::stagnated);
    } else if (iteration_ == rule_.max_iterations) {
      end(k, PcgStatus::out_of_iterations);
    }
  }
}

void RunningSystems::step(std::span<const double> pHp) {
  alpha_.assign(size(), 0.0);
  minus_alpha_.assign(size(), 0.0);
  for (std::int64_t k = 0; k < size(); ++k) {
    ConjugateGradients& scalars = running_[k].scalars;
    if (!std::isfinite(pHp[k])) {
      end(k, PcgStatus::not_finite);
    } else if (!scalars.step(pHp[k])) {
      end(k, PcgStatus::not_positive_definite);
    } else {
      alpha_[k] = scalars.alpha;
      minus_alpha_[k] = -scalars.alpha;
    }
  }
  ++iteration_;
}

void RunningSystems::end(std::int64_t k, PcgStatus status) {
  outcomes_[rows_[k]] = {status, iteration_, running_[k].scalars.explained};
  running_[k].ended = true;
}

bool RunningSystems::stagnates(System& system) const {
  if (system.scalars.rz < 0.5 * system.best_rz) {
    system.best_rz = system.scalars.rz;
    system.best_at = iteration_;
  }
  return iteration_ - system.best_at > stagnation_iterations;
}

RunningSystems::Moves RunningSystems::drop_ended() {
  Moves moves;
  std::int64_t active = size();
  for (std::int64_t k = 0; k < active;) {
    if (!running_[k].ended) {
      ++k;
      continue;
    }
    --active;
    if (running_[active].ended) continue;
    running_[k] = running_[active];
    systems_[k] = systems_[active];
    rows_[k] = rows_[active];
    beta_[k] = beta_[active];
    moves.from.push_back(static_cast<std::int32_t>(active));
    moves.to.push_back(static_cast<std::int32_t>(k));
  }
  running_.resize(active);
  systems_.resize(active);
  rows_.resize(active);
  beta_.resize(active);
  return moves;
}

}  // namespace poise
