#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/certificate.hpp"
#include "poise/solver/column_probes.hpp"
#include "poise/solver/shared_system.hpp"

namespace poise {

/// A value, and how far it may be from the truth.
struct EstimatedObjective {
  double value = 0;
  double error = 0;
};

/// A certificate of every column of a saved B that trusts neither the solver nor the inverse.
///
/// The excess of column i is at most rho_i'A^-1 rho_i / (lo_i b_i). Let K = S R'A^-1 R S with a diagonal S
/// that is fixed before anything is drawn; z is standard normal.
///
/// - All columns together: with s_i = (lo_i b_i)^-1/2 the sum of all excesses is at most tr K, and probes of
///   z'Kz = y'A^-1 y, y = R S z, bound that (solver/probes.hpp).
/// - Each column: with s_i divided by the root of t_i, what the column explains, K_ii is the ratio of its
/// excess to
///   that. Kz = S R'e, e = A^-1 y, bounds all K_ii at once (solver/diagonal_bound.hpp), without the factor n
///   that a bound through their sum would cost.
///
/// Zero diagonal: a column's own coordinate of rho is free, so R's diagonal may be lowered by any d_i fixed
/// before the draw. At the optimum it is d_i = 1 / h_ii - l_i, which the solver knows; at the column that is
/// saved it is R_ii = observed - explained. What either adds to the bound is its distance from the first, so
/// some draws of their own choose between them.
class ColumnCertificate {
 public:
  /// For the autoencoder's problem (target X). `observed` is the weight of each column.
  ColumnCertificate(const SharedSystem& A, std::vector<double> observed, bool zero_diagonal, Backend& backend,
                    const Execution& execution);

  /// Takes in saved columns, each once: row k of `beta` is column items[k], explained[k] = beta'c_i through
  /// the data; own[k] is what the solver takes d_i for (zero diagonal; empty where nobody knows).
  void add(std::span<const std::int32_t> items, MatrixView<const float> beta,
           std::span<const double> explained, std::span<const double> own);

  /// Bounds all columns, once all were added; row i of `columns` is column i. With another P the same draws
  /// serve again: what they prove does not depend on it.
  void prove(ApproximateInverse& P, MatrixView<const float> columns, std::int64_t block);

  /// Whether P was good enough for bounds close to the truth; others hold all the same.
  [[nodiscard]] bool settled() const { return settled_; }

  /// Another guess at the multipliers d_i, for the next proof.
  void suggest_multipliers(std::vector<double> own) { own_ = std::move(own); }

  /// Columns whose ratio is not proven to be within the tolerance.
  [[nodiscard]] std::vector<std::int32_t> missing(double tolerance) const;

  /// What was found by looking at column i itself, as it is saved now.
  void verify(std::int32_t i, double explained, double excess, double ratio);
  /// Bounds the sum anew, by fresh draws over the columns that were not verified.
  void prove_again(ApproximateInverse& P, MatrixView<const float> columns, std::int64_t block);

  [[nodiscard]] Certificate certificate() const;

  /// The objective of what is saved, observed - beta'c - beta'rho over all columns, without a pass through
  /// all data: the slopes beta'rho, which vanish at the optimum, are estimated by the probes of the sum.
  [[nodiscard]] EstimatedObjective objective() const;

 private:
  [[nodiscard]] double scale(std::int32_t i) const;         // s_i of the sum
  [[nodiscard]] double column_scale(std::int32_t i) const;  // and of the columns
  /// y less d o z, for the probes from `first` on.
  [[nodiscard]] Matrix<double> probes_of(const Matrix<double>& y, const Matrix<double>& z,
                                         std::span<const double> d, std::int64_t first,
                                         std::int64_t count) const;
  void choose_diagonal(ApproximateInverse& P);
  void bound_sum(ApproximateInverse& P, const ColumnProbes& probes, const Matrix<double>& z,
                 const Matrix<double>& y, double doubt);
  void bound_columns(ApproximateInverse& P, MatrixView<const float> columns, std::int64_t block);

  const SharedSystem& A_;
  const ColumnProblem& problem_;
  std::vector<double> observed_;
  bool zero_diagonal_;
  Backend& backend_;
  const Execution& execution_;
  std::int64_t n_;
  std::int64_t sum_probes_;
  std::int64_t column_probes_;
  std::int64_t basis_probes_;
  std::int64_t choice_probes_;
  ColumnProbes probes_;
  Matrix<double> y_;  // R z, once it was made
  std::vector<double> explained_;
  std::vector<double> own_;  // what the solver takes d_i for
  std::vector<double> d_;    // what is taken
  std::vector<double> ratio_;
  std::vector<double> excess_;  // of verified columns
  std::vector<char> verified_;
  double sum_ = 0;
  bool settled_ = true;
  double slope_ = 0;        // an estimate of the sum of beta'rho over columns that were not verified
  double slope_error_ = 0;  // its standard error
};

}  // namespace poise
