#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/column_problem.hpp"
#include "poise/solver/shared_system.hpp"

namespace poise {

/// Products of the true residuals of saved columns, R = (rho_1 ... rho_n), rho_i = c_i - H_i B_:i, with
/// random vectors, without forming R. With q_i = e_i - B_:i and C_i = X' diag(a C_:i) X the residual of an
/// autoencoder's column is
///
///     rho_i = b_i (G q_i + C_i q_i) - Lambda B_:i,   G = X' diag(a) X,
///
/// so R z = G sum_i b_i z_i q_i + sum_i b_i z_i C_i q_i - Lambda B z: products of blocks of columns with z, a
/// pass of the sparse part over every column, and G once for all. All in float64.
class ColumnProbes {
 public:
  /// Row i of `z` (items x probes) belongs to column i, whatever it is scaled by.
  ColumnProbes(const SharedSystem& A, Matrix<double> z, Backend& backend);

  [[nodiscard]] Matrix<double>& z() { return z_; }

  /// Adds saved columns; row k of `beta` is column items[k]. Each column once, after its row of z has its
  /// scale. 4 n operations a probe and column in products, and 4 sum over u in S_i of |N_u| as gathers and
  /// scatters.
  void add(std::span<const std::int32_t> items, MatrixView<const float> beta);

  /// R z for the columns that were added.
  [[nodiscard]] Matrix<double> residuals() const;
  /// B z for them.
  [[nodiscard]] Matrix<double> columns() const { return Bz_.home(); }

 private:
  void add_part(std::span<const std::int32_t> items, MatrixView<const float> beta);

  const SharedSystem& A_;
  const ColumnProblem& problem_;
  Matrix<double> z_;
  Backend& backend_;
  Resident<double> room_;  // for columns in float64
  Resident<double> Bz_;
  Resident<double> qbz_;   // sum_i b_i z_i q_i, less the e_i: -B (b o z)
  Resident<double> Cqbz_;  // sum_i b_i z_i C_i q_i
};

/// (R'e)_i = rho_i . e for each of the columns and each column e of forms.e: rows items[k], in ordinary
/// memory. The same costs.
Matrix<double> residual_dots(const SharedSystem& A, std::span<const std::int32_t> items,
                             MatrixView<const float> beta, const InverseForms& forms, Backend& backend);

}  // namespace poise
