#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/model/full_rank/basis.hpp"
#include "poise/solver/certificate.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// Training of the full-rank model (the paper's equation 4; equation 8 with another target):
///
///     min_B || sqrt(W) o (X - XB) ||^2 + tr(B' Lambda B),   Lambda = diag(l),
///     l_i = lambda (|S_i| / g)^nu + p / (1 - p) |S_i|,
///
/// |S_i| the users of item i and g the geometric mean of that over items with users (full_rank_lambda);
/// unconstrained or with diag(B) = 0. One solve h_i = H_i^-1 e_i per column gives both:
///
///     unconstrained:  B_:i = e_i - l_i h_i,      zero diagonal:  B_:i = e_i - h_i / h_ii.
///
/// With features F of items, feature_weight sum_i b_i |F_:i - F B_:i|^2 is added to what is minimized
/// (solver/feature_rows.hpp); |S_i| does not count them.
struct FullRankOptions {
  double lambda = 100;
  double lambda_exponent = 0;  ///< nu; 0 is the same lambda for every item
  double dropout = 0;          ///< p, 0 <= p < 1
  bool unconstrained = true;   ///< which of the two to return
  bool zero_diagonal = false;
  CsrView features = {};      ///< F, features x items; no rows: none
  double feature_weight = 0;  ///< beta; 0 is as no features
  double tolerance = 1e-6;    ///< bound on certificate.worst_column
  std::uint64_t memory_limit = std::numeric_limits<std::uint64_t>::max();

  [[nodiscard]] bool with_features() const { return features.rows > 0 && feature_weight > 0; }
};

/// Throws Error{usage} for options out of range.
void validate(const FullRankOptions& options);

struct FullRankSolution {
  bool zero_diagonal = false;
  Matrix<float> B;             ///< row j: the addition of history item j to all scores
  double objective = 0;        ///< of this B, in float64
  double objective_error = 0;  ///< its largest error; 0 if every column was measured through all data
  double observed_weight = 0;  ///< the objective of B = 0
  Certificate certificate;
  std::vector<double> h;   ///< h_ii of each column; empty for another target than X
  bool converged = false;  ///< whether certificate.worst_column is within the tolerance
  bool settled = true;     ///< whether the certificate is known to be close to the truth

  /// Whether float64 is not needed.
  [[nodiscard]] bool good() const { return converged && settled; }
};

class DenseCheckpoint;

struct FullRankFit {
  std::vector<FullRankSolution> solutions;  ///< unconstrained first
  double condition = 0;                     ///< of A = X' diag(a) X + Lambda / b_bar, see SpdInverse
  bool float64 = false;                     ///< whether the inverse had to be held in float64
  bool tensor_cores = false;                ///< whether products with it were split for tensor cores
  std::int64_t iterations = 0;              ///< the most that a column took
  std::int64_t direct_columns = 0;          ///< solved by the inverse alone or by Woodbury's identity
  std::int64_t iterated_columns = 0;        ///< solved by conjugate gradients
  std::vector<double> worst_column;         ///< of those, after 0, 1, ... iterations
  std::map<std::string, double> seconds;    ///< by phase
};

/// Trains on X (only the weighting reads its values). With a `target` Y != X only the
/// unconstrained model is defined. A `basis` keeps what later fits with the same A can use, one matrix of
/// items x items more for unweighted models; it changes no bit of the result. Neither model depends on
/// whether the other is requested. Error{resources} before any work if it does not fit the memory limit;
/// Error{numerical} if A is singular even in float64. A `checkpoint` is for one model, without a basis, on
/// the processor.
FullRankFit fit_full_rank(CsrView X, const Weights& W, const FullRankOptions& options, Backend& backend,
                          const Execution& execution, FullRankBasis* basis = nullptr,
                          const CsrView* target = nullptr, DenseCheckpoint* checkpoint = nullptr);

struct FullRankStart;
/// A fit that goes on from another one, of which the basis has A^-1 after the change (start.hpp): unweighted
/// columns directly, the others by conjugate gradients from the earlier model's. In one precision: the result
/// need not be good(), and has no solution where the changed A needs float64; then another fit is due.
FullRankFit continue_full_rank(CsrView X, const Weights& W, const FullRankOptions& options,
                               const FullRankStart& start, FullRankBasis& basis, Backend& backend,
                               const Execution& execution);

/// The objective of any B (by rows, with values) for the problem of these options: for example
/// of a B of which only the largest entries were kept.
double full_rank_objective(CsrView X, const Weights& W, const FullRankOptions& options, CsrView B,
                           Backend& backend, const Execution& execution);

/// How much work a fit is, in operations of a matrix product (a gathered operation counts as many): for an
/// estimate of the time beforehand.
double full_rank_operations(CsrView X, const Weights& W, const FullRankOptions& options, int threads = 1);

/// The bytes a fit needs beyond X at the least, and with Woodbury's T.
struct FullRankMemory {
  std::uint64_t least = 0;
  std::uint64_t with_T = 0;
};
/// The bytes that features of items take besides F itself; 0 where they have no weight.
std::uint64_t feature_bytes(const FullRankOptions& options);
/// Error{resources}, which says what would fit, if a fit does not.
void check_full_rank_memory(CsrView X, const Weights& W, const FullRankOptions& options);
/// The least memory of a GPU for a fit, in bytes; with more it processes more columns at a time.
std::uint64_t full_rank_gpu_memory(std::int64_t items, bool weighted, int solutions);
FullRankMemory full_rank_memory(CsrView X, bool weighted, int solutions);

}  // namespace poise
