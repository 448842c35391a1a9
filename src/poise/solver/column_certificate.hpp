#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/certificate.hpp"
#include "poise/solver/column_probes.hpp"
#include "poise/solver/probes.hpp"
#include "poise/solver/shared_system.hpp"
#include "poise/solver/weighted_errors.hpp"

namespace poise {

/// A value, and how far it may be from the truth.
struct EstimatedObjective {
  double value = 0;
  double error = 0;
};

/// A certificate of every column of a saved B that trusts neither the solver nor the inverse.
///
/// The excess of column i is at most rho_i'A^-1 rho_i / (lo_i b_i), the entry K_ii of K = S R'A^-1 R S with
/// s_i = (lo_i b_i)^-1/2. Probes z, standard normal, give y = R S z, e = A^-1 y and K z = S R'e, and with
/// them
///
/// - the sum of all excesses, at most tr K (solver/trace_bound.hpp);
/// - each column's, at most K_ii (solver/diagonal_bound.hpp).
///
/// A column is judged by the ratio of its excess to t_i, what it explains. Where the probes do not prove that
/// of some column, others do whose s_i is divided by the root of t_i besides, so that no column's row of K is
/// as long as a larger one makes it.
///
/// Zero diagonal: a column's own coordinate of rho is free, so R's diagonal may be lowered by any d_i fixed
/// before the draw. At the optimum it is d_i = 1 / h_ii - l_i, which the solver knows; at the column that is
/// saved it is R_ii = observed - explained. What either adds to the bound is its distance from the first.
/// Some of the probes choose between them, and every bound is made to hold for both.
class ColumnCertificate {
 public:
  /// For the autoencoder's problem (target X). `observed` is the weight of each column.
  ColumnCertificate(const SharedSystem& A, std::vector<double> observed, bool zero_diagonal, Backend& backend,
                    const Execution& execution);

  /// Whether it would take the scores on C's support, to add.
  [[nodiscard]] bool takes_scores() const { return errors_.takes_scores(); }

  /// Takes in saved columns, each once: row k of `beta` is column items[k], explained[k] = beta'c_i through
  /// the data; own[k] is what the solver takes d_i for (zero diagonal; empty where nobody knows); `scores` as
  /// for WeightedErrors.
  void add(std::span<const std::int32_t> items, MatrixView<const float> beta,
           std::span<const double> explained, std::span<const double> own, std::span<const double> scores);

  /// Some columns were solved to the tolerance, not to the last bit: more probes are drawn, for closer
  /// bounds.
  void expect_iterated_columns() { iterated_ = true; }

  /// Bounds all columns, once all were added; row i of `columns` is column i. With another P the same draws
  /// serve again: what they prove does not depend on it.
  void prove(ApproximateInverse& P, MatrixView<const float> columns, double tolerance);

  /// Whether P was good enough for bounds close to the truth; others hold all the same.
  [[nodiscard]] bool settled() const { return settled_; }

  /// Another guess at the multipliers d_i, for the next proof; at most once, and where nobody knew them.
  void suggest_multipliers(std::vector<double> own) { own_ = std::move(own); }

  /// Columns whose ratio is not proven to be within the tolerance.
  [[nodiscard]] std::vector<std::int32_t> missing(double tolerance) const;

  /// What was found by looking at column i itself, as it is saved now.
  void verify(std::int32_t i, double explained, double excess, double ratio);
  /// Bounds the sum anew, by fresh draws over the columns that were not verified.
  void prove_again(ApproximateInverse& P, MatrixView<const float> columns);

  [[nodiscard]] Certificate certificate() const;

  /// The objective of what is saved, observed - beta'c - beta'rho over all columns, without a pass through
  /// all data: the slopes beta'rho, which vanish at the optimum, are estimated by the probes of the sum.
  [[nodiscard]] EstimatedObjective objective() const;

 private:
  /// A set of probes: z with its rows scaled, and what the residuals make of it.
  struct Probes {
    std::vector<double> s;
    Matrix<double> z;  ///< S z
    ResidualProducts made;
  };

  [[nodiscard]] std::int64_t count() const;  // of probes
  [[nodiscard]] double scale(std::int32_t i) const;
  /// What the excess of column i is measured against; 0 where nobody has the item.
  [[nodiscard]] double against(std::int32_t i) const;
  [[nodiscard]] Probes draw(ProbeStream stream, std::int64_t count, std::vector<double> s,
                            MatrixView<const float> columns) const;
  /// y less d o z.
  [[nodiscard]] Matrix<double> lowered(const Probes& probes, std::span<const double> d,
                                       std::int64_t count) const;
  [[nodiscard]] InverseForms choose_diagonal(ApproximateInverse& P);
  /// K z = S (R'e - d o e).
  [[nodiscard]] Matrix<double> products_of_K(const Probes& probes, const InverseForms& forms,
                                             MatrixView<const float> columns) const;
  void bound_sum(const Probes& probes, const InverseForms& forms, const Matrix<double>& Kz, double doubt);
  /// Takes ratios that are lower than those known.
  void bound_columns(const Probes& probes, const InverseForms& forms, const Matrix<double>& Kz, bool by_ratio,
                     double doubt);

  const SharedSystem& A_;
  const ColumnProblem& problem_;
  WeightedErrors errors_;
  std::vector<double> observed_;
  bool zero_diagonal_;
  Backend& backend_;
  const Execution& execution_;
  std::int64_t n_;
  bool iterated_ = false;
  Probes first_;     // once they were drawn
  Probes by_ratio_;  // where the first were not enough
  std::vector<double> explained_;
  std::vector<double> own_;  // what the solver takes d_i for
  std::vector<double> d_;    // what is taken
  std::vector<double> ratio_;
  std::vector<double> excess_;  // of verified columns
  std::vector<char> verified_;
  double sum_ = 0;
  bool settled_ = true;
  double slope_ = 0;        // an estimate of the sum of beta'rho over columns that were not verified
  double slope_error_ = 0;  // how far it may be off
};

}  // namespace poise
