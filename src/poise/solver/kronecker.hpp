#pragma once

#include <span>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/linear_operator.hpp"
#include "poise/solver/row_entries.hpp"

namespace poise {

/// The coupled U step of the asymmetric factorization (the paper's equations 9, 12 and 13 as operators):
/// given V, minimize over U (n x d)
///
///     || sqrt(W) o (X - X U V') ||^2 + lambda || U ||_K^2,   K = I, or G0 = X'X with `data_metric`.
///
/// V is given in the basis in which V' diag(b) V = diag(nu), and for dropout V'V = I as well: there lambda
/// ||U V'||^2 = lambda ||U||^2, so the three regularizers become these two.
struct UProblem {
  CsrView X;                      ///< m x n
  CsrView X_transposed;           ///< n x m
  const RowEntries* entries;      ///< users x items
  std::span<const float> a = {};  ///< per user; empty: all 1
  In<float> V;                    ///< n x d
  std::span<const double> nu;     ///< d
  double lambda = 0;
  bool data_metric = false;
};

/// All of a matrix as one row: one system with one inner product. The padding between its rows is 0 and
/// counts as unknowns that are 0, which every linear operation preserves.
inline Out<float> as_row(Resident<float>& matrix) {
  const Out<float> view = matrix.view();
  return {view.data, 1, view.rows * view.stride, view.rows * view.stride};
}

/// H(P) = X'[ (W o (X P V')) V ] + lambda K P. It is one system of n d unknowns with one inner product: the
/// rows of P lie one after the other in a single row (as_row), as conjugate gradients require. With T = X P,
/// X' is applied to S with rows
///
///     S_u = a_u nu o t_u + sum_i c_ui (t_u . v_i) v_i  (+ lambda t_u with the data metric),
///
/// so the background costs no product with G: 4 nnz d operations for X and X', 4 more on the entries of C,
/// and two m x d blocks of memory. (M p is not used: S has to pass through X' anyway.)
class KroneckerSystem final : public LinearOperator<float> {
 public:
  KroneckerSystem(const UProblem& problem, Backend& backend);
  void apply(const Vectors<float>& p, Out<float> out) override;
  /// r = X'(W o X) V - H(U); all of them n x d.
  void residual(In<float> U, Out<float> r);

 private:
  /// S of the given T: `with_target` the target's W o X less H's part, else H's part, both negative in H.
  void fill_S(bool with_target);

  UProblem problem_;
  Backend& backend_;
  std::vector<double> a_;
  Resident<float> T_;
  Resident<float> S_;
};

/// What a fit knows of G = X' diag(a) X (and of G0): an inverse, or eigenpairs.
struct LeftFactor {
  /// A^-1 in float32, or in float64 if its condition requires it; A = G + (lambda / kappa) I, or G0.
  Resident<float> inverse;
  Resident<double> inverse64;
  /// Or eigenpairs: G Q = K Q diag(s), Q'K Q = I. If they are incomplete, the rest counts as s = 0.
  Resident<float> Q;
  std::vector<double> s;
  bool complete = false;
  double kappa = 1;  ///< see KroneckerPreconditioner

  [[nodiscard]] bool has_inverse() const { return inverse.rows() > 0 || inverse64.rows() > 0; }
};

/// M^-1 R, where M is the system at C = 0 (the paper's section 4), G P diag(nu) + lambda K P, or a lower
/// bound of it: lo M <= H holds in any case.
///
///     eigenpairs:           Q [ (Q'R) ./ (s_i nu_j + lambda) ], plus (I - QQ') R / lambda where incomplete
///     inverse, K = I:       (G + lambda / kappa)^-1 R diag(1 / min(nu, kappa))
///     inverse, K = G0:      G0^-1 R diag(1 / (kappa nu + lambda)),  kappa <= a
///
/// The second is exact if nu = kappa (dropout with b = 1), the third if a = kappa. Otherwise nu s + lambda >=
/// min(nu, kappa) (s + lambda / kappa), and at most max(nu / kappa, kappa / nu) times that. A direction with
/// nu = 0 that lambda does not support is left out. 2 n^2 d operations; 4 n k d with k pairs, twice that if
/// they are incomplete.
class KroneckerPreconditioner final : public LinearOperator<float> {
 public:
  KroneckerPreconditioner(const UProblem& problem, const LeftFactor& left, Backend& backend);
  void apply(const Vectors<float>& r, Out<float> z) override;

 private:
  void by_inverse(In<float> r, Out<float> z);
  void by_eigenpairs(In<float> r, Out<float> z);

  UProblem problem_;
  const LeftFactor& left_;
  Backend& backend_;
};

}  // namespace poise
