#pragma once

#include <span>
#include <vector>

#include "poise/backend/resident.hpp"
#include "poise/backend/row_systems.hpp"
#include "poise/base/parallel.hpp"
#include "poise/model/low_rank/alternating.hpp"
#include "poise/model/wmf/fit.hpp"
#include "poise/solver/row_entries.hpp"

namespace poise {

/// One side of the problem: the rows that a half-round solves.
struct WmfSide {
  RowEntries entries;
  std::span<const float> weights;  ///< a or b of these rows
  std::vector<double> lambdas;     ///< empty: one lambda
};

struct WmfPair {
  Resident<float> U;
  Resident<float> V;
};

/// min over U (m x d), V (n x d) of || sqrt(W) o (X - U V') ||^2 + sum_u lambda_u ||u||^2 + sum_i lambda_i
/// ||v||^2, with what every half-round needs.
class WmfProblem {
 public:
  /// All of them must outlive it. `processes` that all make the same one hold its entries once a host.
  WmfProblem(CsrView X, const Weights& W, const WmfOptions& options, Backend& backend,
             const Execution& execution, Processes* processes = nullptr);

  [[nodiscard]] const Weights& weights() const { return W_; }
  [[nodiscard]] const WmfSide& users() const { return users_; }
  [[nodiscard]] const WmfSide& items() const { return items_; }

  /// The rows of one side, the other side's factors being fixed; `sigma` are the eigenvalues of their Gram
  /// matrix.
  [[nodiscard]] RowSystems systems(const WmfSide& rows, const Resident<float>& factors,
                                   std::span<const double> sigma) const;
  /// sum of lambda_r ||z_r||^2.
  [[nodiscard]] double penalty(const Resident<float>& Z, const WmfSide& side) const;
  /// In float64.
  [[nodiscard]] double objective(const WmfPair& pair) const;

  [[nodiscard]] CheckedPair check(const WmfPair& pair) const;

 private:
  /// What the rows of one side explain and could still gain, the other side's factors being fixed.
  [[nodiscard]] RowsChecked checked(const WmfSide& rows, const WmfSide& fixed, const Resident<float>& solved,
                                    const Resident<float>& factors) const;

  const Weights& W_;
  double lambda_;
  Backend& backend_;
  WmfSide users_;
  WmfSide items_;
  std::vector<Pin> pins_;
};

}  // namespace poise
