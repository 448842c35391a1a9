#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/comm/processes.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/column_problem.hpp"
#include "poise/solver/shared_system.hpp"

namespace poise {

/// What is made of a ColumnProblem once, for solves in either precision, proofs and objectives; each part
/// when it is first asked for, as not every fit needs all. Called from one thread at a time.
class ColumnData {
 public:
  /// All must outlive it; the problem is complete.
  ColumnData(const ColumnProblem& problem, Backend& backend, const Execution& execution);

  [[nodiscard]] const ColumnProblem& problem() const { return problem_; }
  [[nodiscard]] Backend& backend() const { return backend_; }
  [[nodiscard]] const Execution& execution() const { return execution_; }
  /// X' (items x users) with the weights W_ui as values.
  [[nodiscard]] CsrView users_of() const;
  /// Has it held once by each host; called before anything else by all processes, which have the same
  /// problem.
  void hold_users_once(Processes& processes);
  /// sum_u W_ui X_ui + b_i beta |F_:i|^2 of each item.
  [[nodiscard]] const std::vector<double>& observed() const;
  /// A, through the data.
  [[nodiscard]] const SharedSystem& shared_system() const;

  /// beta'c_i of saved columns, c_i = X'(W_:i o X_:i) and that of features: the weight they explain except
  /// for beta'rho, which vanishes at the optimum, without a pass through all data. `scores`, unless empty,
  /// receive the x_u . beta of X's entries, one column after the other.
  std::vector<double> explained(std::span<const std::int32_t> items, In<float> beta,
                                std::vector<double>* scores = nullptr) const;
  /// The same for any rows p in place of beta, with the rounding of float32 weights.
  template <class T>
  [[nodiscard]] std::vector<double> forms(std::span<const std::int32_t> items, In<T> p) const;

 private:
  template <class T>
  void add_features(std::span<const std::int32_t> items, In<T> p, std::vector<double>& forms) const;

  const ColumnProblem& problem_;
  Backend& backend_;
  const Execution& execution_;
  mutable std::optional<WeightedTranspose> users_of_;
  mutable std::optional<SharedSystem> shared_system_;
  mutable std::vector<double> of_users_;
  mutable std::vector<double> observed_;
  mutable std::vector<double> weight_corrections_;
  mutable std::vector<Pin> pins_;
};

extern template std::vector<double> ColumnData::forms<float>(std::span<const std::int32_t>, In<float>) const;
extern template std::vector<double> ColumnData::forms<double>(std::span<const std::int32_t>,
                                                              In<double>) const;

}  // namespace poise
