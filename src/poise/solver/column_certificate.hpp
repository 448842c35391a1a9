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

/// A value and its largest error.
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
/// A column is judged by the ratio of its excess to t_i, the weight it explains. If the probes do not prove
/// this for some column, other probes do, whose s_i is also divided by the root of t_i, so that large columns
/// do not lengthen the rows of K of small ones.
///
/// Zero diagonal: a column's own coordinate of rho is free, so any d_i that is fixed before the draw may be
/// subtracted from R's diagonal. At the optimum d_i = 1 / h_ii - l_i, which the solver knows; at the saved
/// column it is R_ii = observed - explained. Either adds its distance from the optimal d_i to the bound. Some
/// of the probes choose between them, and every bound holds for both.
///
/// Without a pass through the data (expect_measured(false), for C = 0 and b = 1): a column with no residual
/// but d_i explains observed - f_i, f_i = d_i, or l_i B_ii without the constraint. With Y = R - diag(d),
///
///     t_i = observed - f_i - Y_ii,     |Y_ii| <= sqrt(A_ii K_ii)     (Cauchy's inequality),
///
/// so the bounds on K bound t_i from below, and the objective is sum of f_i + tr Y - tr B'Y, of which the
/// probes of the sum estimate the traces.
class ColumnCertificate {
 public:
  /// For the autoencoder's problem (target X). `observed` is the weight of each column. If there is a share,
  /// each process adds and verifies its own columns, and all prove together.
  ColumnCertificate(const SharedSystem& A, std::vector<double> observed, bool zero_diagonal, Backend& backend,
                    const Execution& execution, const ColumnShare* share = nullptr);

  /// Whether add() uses the scores on C's support.
  [[nodiscard]] bool takes_scores() const { return errors_.takes_scores(); }

  /// Adds saved columns, each once: row k of `beta` is column items[k], explained[k] = beta'c_i through the
  /// data; own[k] is the solver's d_i (zero diagonal; empty if unknown); `scores` as for WeightedErrors.
  void add(std::span<const std::int32_t> items, In<float> beta, std::span<const double> explained,
           std::span<const double> own, std::span<const double> scores);

  /// Draws more probes for closer bounds, because some columns were solved to the tolerance, not to the last
  /// bit.
  void expect_iterated_columns() { iterated_ = true; }

  /// Whether the explained weights of add() are measured (as they are unless it is called) or observed - f_i.
  /// May be called again before columns are added again with measured ones.
  void expect_measured(bool measured) { measured_ = measured; }

  /// Bounds all columns, once all were added. The same draws serve again with another P, because what they
  /// prove does not depend on P. Beside A^-1 and B: some 15 numbers an item for each of up to 32 probes, and
  /// one for each of all.
  void prove(ApproximateInverse& P, SavedColumns columns, double tolerance);

  /// Whether P was good enough for bounds close to the truth; the bounds hold in any case.
  [[nodiscard]] bool settled() const { return settled_; }

  /// Sets the multipliers d_i for the next proof; at most once, and only if they were unknown.
  void suggest_multipliers(std::vector<double> own) { own_ = std::move(own); }

  /// Columns whose ratio is not proven to be within the tolerance.
  [[nodiscard]] std::vector<std::int32_t> missing(double tolerance) const;

  /// Records the measured figures of column i as it is saved now.
  void verify(std::int32_t i, double explained, double excess, double ratio);
  /// Bounds the sum again, by new draws over the columns that were not verified.
  void prove_again(ApproximateInverse& P, SavedColumns columns);

  [[nodiscard]] Certificate certificate() const;

  /// The objective of the saved columns, observed - beta'c - beta'rho over all columns, without a pass
  /// through all data: the probes of the sum estimate the slopes beta'rho, which vanish at the optimum (and
  /// tr Y, where the explained weights are not measured).
  [[nodiscard]] EstimatedObjective objective() const;

 private:
  /// Some probes of a set: z with its rows scaled, and its products with the residuals.
  struct Probes {
    Matrix<double> z;  ///< S z
    ResidualProducts made;
  };
  /// What a set of probes found. Its vectors, a dozen of them for each probe, live only while a few probes
  /// are followed at a time; of all probes there is one, K z.
  struct Findings {
    ProbeStream stream;
    std::int64_t count;             ///< of probes
    std::vector<double> s;          ///< by which their rows are scaled
    std::vector<double> form = {};  ///< see InverseForms
    std::vector<double> remainder = {};
    std::vector<double> draws = {};  ///< of the slopes, (B S z)'(R S z)
    Matrix<double> Kz = {};
  };

  [[nodiscard]] std::int64_t count() const;  // of probes
  [[nodiscard]] double scale(std::int32_t i) const;
  /// The weight that the excess of column i is compared with; 0 if no user has the item.
  [[nodiscard]] double against(std::int32_t i) const;
  /// A_ii, for C = 0 and b = 1.
  [[nodiscard]] double diagonal(std::int32_t i) const { return observed_[i] + problem_.l[i]; }
  /// The ratio of column i that K_ii proves.
  [[nodiscard]] double proven_ratio(std::int32_t i, double K) const;
  /// What all columns explain, at the least.
  [[nodiscard]] double least_explained() const;
  /// Probes [first, first + count) of these.
  [[nodiscard]] Probes draw(const Findings& of, std::int64_t first, std::int64_t count,
                            SavedColumns columns) const;
  /// y less d o z, of the first probes.
  [[nodiscard]] Matrix<double> lowered(const Probes& probes, std::span<const double> d,
                                       std::int64_t count) const;
  /// Follows these probes through R, A^-1 and R' again. `choose`: the first of them choose the diagonal.
  void follow(Findings& findings, ApproximateInverse& P, SavedColumns columns, double share, bool choose);
  /// Takes the better one of the two diagonals.
  [[nodiscard]] InverseForms choose_diagonal(const Probes& probes, ApproximateInverse& P, double share);
  /// K z = S (R'e - d o e).
  [[nodiscard]] Matrix<double> products_of_K(const Findings& of, const InverseForms& forms,
                                             SavedColumns columns) const;
  /// Joins what the owners of columns have added.
  void join_added();
  void bound_sum(const Findings& found, double doubt);
  /// Lowers the ratios to those that these probes prove.
  void bound_columns(const Findings& found, bool by_ratio, double doubt);

  const SharedSystem& A_;
  const ColumnProblem& problem_;
  WeightedErrors errors_;
  std::vector<double> observed_;
  bool zero_diagonal_;
  Backend& backend_;
  const Execution& execution_;
  const ColumnShare* share_;
  std::int64_t n_;
  bool iterated_ = false;
  bool measured_ = true;
  bool joined_ = false;
  std::vector<double> explained_;
  std::vector<double> own_;  // the solver's d_i
  std::vector<double> d_;    // the chosen d_i
  std::vector<double> ratio_;
  std::vector<double> excess_;  // of verified columns
  std::vector<char> verified_;
  double sum_ = 0;
  bool settled_ = true;
  double slope_ = 0;  // an estimate of the sum of beta'rho over columns that were not verified, less tr Y
  double slope_error_ = 0;  // its largest error
};

}  // namespace poise
