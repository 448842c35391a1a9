#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "poise/linalg/conjugate_gradients.hpp"
#include "poise/solver/pcg.hpp"

namespace poise {

/// The systems of a block that conjugate gradients still run on, in the order of the blocks' rows. A system
/// ends in test() or in step(), and its row is given to the last one by compact().
class RunningSystems {
 public:
  RunningSystems(std::vector<std::int32_t> systems, const StoppingRule& rule);

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(systems_.size()); }
  [[nodiscard]] std::span<const std::int32_t> systems() const { return systems_; }
  /// Where the solutions lie.
  [[nodiscard]] std::span<const std::int32_t> rows() const { return rows_; }
  /// Of each system, the last direction's beta and the last step's alpha; a system that ended has alpha = 0.
  [[nodiscard]] std::span<const double> beta() const { return beta_; }
  [[nodiscard]] std::span<const double> alpha() const { return alpha_; }
  [[nodiscard]] std::span<const double> minus_alpha() const { return minus_alpha_; }

  /// Ends systems that are solved, do not get on, or have broken down; beta of the others. `x` and `z` are
  /// each system's own entries, see PcgState.
  void test(std::span<const double> rz, std::span<const double> x, std::span<const double> z);
  /// alpha; ends systems that are not positive along p.
  void step(std::span<const double> pHp);

  /// Forgets the systems that have ended: in each block the last rows move where one has ended.
  template <class T>
  void compact(std::initializer_list<MatrixView<T>> blocks, Backend& backend) {
    const auto [from, to] = drop_ended();
    if (to.empty()) return;
    for (const MatrixView<T> block : blocks) backend.copy_rows(MatrixView<const T>(block), from, block, to);
  }
  [[nodiscard]] std::vector<PcgOutcome> outcomes() { return std::move(outcomes_); }

 private:
  struct System {
    ConjugateGradients scalars = {};
    double best_rz;
    int best_at = 0;
    bool ended = false;
  };
  struct Moves {
    std::vector<std::int32_t> from;
    std::vector<std::int32_t> to;
  };

  void end(std::int64_t k, PcgStatus status);
  /// Whether r'z of system k has not fallen to half its lowest for long.
  [[nodiscard]] bool stagnates(System& system) const;
  Moves drop_ended();

  const StoppingRule& rule_;
  std::vector<PcgOutcome> outcomes_;
  std::vector<std::int32_t> systems_;
  std::vector<std::int32_t> rows_;
  std::vector<System> running_;
  std::vector<double> beta_;
  std::vector<double> alpha_;
  std::vector<double> minus_alpha_;
  int iteration_ = 0;
};

}  // namespace poise
