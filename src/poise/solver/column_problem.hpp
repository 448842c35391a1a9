#pragma once

#include <vector>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/host_csr.hpp"
#include "poise/solver/feature_rows.hpp"
#include "poise/weighting/weights.hpp"

namespace poise {

/// Weighted least squares whose columns decouple (the paper's equations 4 and 8):
///
///     min_B || sqrt(W) o (Y - X B) ||^2 + tr(B' Lambda B),   Lambda = diag(l),   Y = X unless another is
///     given.
///
/// Column i is the system H_i beta = c_i with H_i = X' diag(W_:i) X + Lambda and c_i = X'(W_:i o Y_:i).
/// Divided by b_i it is A = G + Lambda / b_bar, G = X' diag(a) X, which all columns share and which
/// preconditions them, plus
///
///     H_i / b_i - A = sum_u a_u C_ui x_u x_u'  +  (1 / b_i - 1 / b_bar) Lambda.
///
/// Features of items are further rows of X (solver/feature_rows.hpp), which are part of G and c_i alone.
struct ColumnProblem {
  CsrView X;
  const Weights* W = nullptr;
  std::vector<double> l;
  CsrView Y;  ///< the target; X itself for an autoencoder
  bool target_is_X = true;
  double b_bar = 1;  ///< the geometric mean of b
  HostCsr columns;   ///< items x users: row i has the users of C_:i with values a_u C_ui; no entries if C = 0
  FeatureRows features = {};
  std::vector<double> of_features = {};  ///< beta |F_:i|^2; empty without features

  [[nodiscard]] std::int64_t items() const { return X.cols; }
  /// Whether a column's system differs from A.
  [[nodiscard]] bool weighted() const { return !W->c.empty() || !W->b.empty() || !target_is_X; }
  /// Whether C has exactly the entries of X.
  [[nodiscard]] bool on_support_of_X() const {
    return !W->c.empty() && W->support.indices.data() == X.indices.data() &&
           W->support.offsets.data() == X.offsets.data();
  }
  /// lo_i A <= H_i / b_i <= hi_i A.
  [[nodiscard]] double lo(std::int64_t i) const { return std::min(W->lowest, b_bar / W->b_of(i)); }
  [[nodiscard]] double hi(std::int64_t i) const { return std::max(W->highest, b_bar / W->b_of(i)); }
};

/// Sets the features of a problem; with beta = 0 or without rows it has none.
void set_features(ColumnProblem& problem, CsrView F, double beta);
/// The objective of B = 0 with all users and features.
double observed_weight(const ColumnProblem& problem);

/// `l` is Lambda's diagonal; `target` is null for an autoencoder. X, W and the target must outlive the
/// result.
ColumnProblem make_column_problem(CsrView X, const Weights& W, std::vector<double> l,
                                  const CsrView* target = nullptr, int threads = 1);
/// The same without `columns`, which take nearly all of the time; then `columns` alone.
ColumnProblem begin_column_problem(CsrView X, const Weights& W, std::vector<double> l,
                                   const CsrView* target = nullptr);
Csr columns_of_weights(CsrView X, const Weights& W, int threads = 1);

/// X' (items x users) with the weights W_ui as values, so that a column's observed weight, diagonal and
/// right-hand side are sums over its users. If C has the entries of X, it owns only the values, and the
/// problem must outlive it.
struct WeightedTranspose {
  HostCsr own;              ///< no rows if the problem's columns are used
  CsrView columns;          ///< the problem's columns
  HostArray<float> values;  ///< their values

  [[nodiscard]] CsrView view() const {
    if (columns.rows == 0) return own.view();
    return {columns.rows, columns.cols, columns.offsets, columns.indices, values.view()};
  }
};
WeightedTranspose weighted_transpose(const ColumnProblem& problem, int threads = 1);

/// The sum over u in S_i of W_ui (x_u . beta) was computed with the weights of `users_of`, which are rounded
/// to float32. The factor that corrects it to the problem's weights, for each item.
std::vector<double> weight_corrections(CsrView users_of, std::span<const double> of_users);

/// sum_u W_ui X_ui for each item, in float64: what B = 0 leaves of its column, without features. `users_of`:
/// X' with these weights, where C has other entries than X; else it has no rows.
std::vector<double> observed_weights(const ColumnProblem& problem, CsrView users_of, int threads = 1);

/// The size of the correction of an item's system: its users, and the entries of their rows.
struct ColumnLoad {
  double users = 0;
  double entries = 0;
};
std::vector<ColumnLoad> column_loads(CsrView X, const Weights& W, int threads = 1);

}  // namespace poise
