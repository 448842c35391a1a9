#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "poise/backend/device.hpp"
#include "poise/backend/row_systems.hpp"
#include "poise/base/observer.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/linalg/ranked_lists.hpp"
#include "poise/linalg/symmetric_eigen.hpp"

namespace poise {

/// op(A) = A or A'.
enum class Op { none, transpose };

/// The outcome of an inversion. `condition` = ||A||_2 ||A^-1||_2 (0 for an empty matrix), each norm estimated
/// from below by power iteration on the given matrix and on the result; it is defined only if
/// `positive_definite`.
struct SpdInverse {
  bool positive_definite = false;
  double condition = 0;
};

/// scale * rows_k * cols_j * x_kj, an addend of Backend::combine; empty factors are 1.
template <class T>
struct Term {
  In<T> x;
  double scale = 1;
  Numbers rows = {};
  Numbers cols = {};
};

/// Properties of a backend. Routes are chosen by these, never by the name of a backend.
struct BackendTraits {
  /// A gathered operation costs tens of operations of a matrix product, not hundreds: sparse passes and
  /// Woodbury's identity are then cheaper than products with dense matrices.
  bool cheap_gathers = true;
  /// Decompositions of d x d matrices cost less than some tens of products of that size.
  bool cheap_decompositions = true;
  /// The processor's threads are idle while the backend computes.
  bool leaves_processor_free = false;
  /// It computes best on blocks of columns as wide as its memory allows; others on narrow ones.
  bool wide_blocks = false;
  /// The product with a slice of rows stays in a cache until the next product reads it.
  bool caches_slices = true;
  /// Matrices lie in memory of its own, which must hold all of them.
  bool own_memory = false;
};

/// The large primitives that models and solvers use. A backend returns the same bits for the same input, for
/// any thread count; two backends agree up to rounding. Only one thread may call a backend at a time. Shapes
/// that do not fit are a programmer's error.
///
/// Matrices lie in the backend's memory (In and Out), as their type says. Sparse matrices, lists of rows,
/// small matrices and vectors of numbers lie in ordinary memory, and a GPU copies them; while they are
/// pinned it keeps the copy for the next calls. Spans of floats may lie in either memory, because large ones
/// are rows of a Resident.
class Backend : public Device {
 public:
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual BackendTraits traits() const = 0;

  /// out = the sum of the terms, added in float64 and rounded once. `out` may be the x of a term.
  virtual void combine(std::span<const Term<float>> terms, Out<float> out) = 0;
  virtual void combine(std::span<const Term<double>> terms, Out<double> out) = 0;

  /// Row rows[k] of y += factors[k] x_k; a row whose factor is 0 is not touched. No row twice.
  virtual void add_rows(Numbers factors, In<float> x, Out<float> y, Indices rows) = 0;
  virtual void add_rows(Numbers factors, In<double> x, Out<double> y, Indices rows) = 0;

  /// out_k = x_k . y_k over rows, added in float64.
  virtual void row_dots(In<float> x, In<float> y, std::span<double> out) = 0;
  virtual void row_dots(In<double> x, In<double> y, std::span<double> out) = 0;

  /// Row to_rows[k] of `to` becomes row from_rows[k] of `from`; an empty list is 0, 1, ... Both may be one
  /// matrix where no row is read that is also written.
  virtual void copy_rows(In<float> from, Indices from_rows, Out<float> to, Indices to_rows) = 0;
  virtual void copy_rows(In<double> from, Indices from_rows, Out<double> to, Indices to_rows) = 0;

  /// out_k = x(rows[k], cols[k]); no rows: 0, 1, ...
  virtual void get_entries(In<float> x, Indices rows, Indices cols, std::span<double> out) = 0;
  virtual void get_entries(In<double> x, Indices rows, Indices cols, std::span<double> out) = 0;
  /// x(k, cols[k]) = values[k].
  virtual void set_entries(Out<float> x, Indices cols, Numbers values) = 0;
  virtual void set_entries(Out<double> x, Indices cols, Numbers values) = 0;

  /// A' in place, for a square A.
  virtual void transpose_in_place(Out<float> a) = 0;

  /// C = alpha op(A) op(B) + beta C. With beta = 0, C is not read. 2 rows cols inner flops.
  virtual void gemm(Op op_a, Op op_b, float alpha, In<float> a, In<float> b, float beta, Out<float> c) = 0;
  virtual void gemm(Op op_a, Op op_b, double alpha, In<double> a, In<double> b, double beta,
                    Out<double> c) = 0;
  /// With A in float32, widened as it is read: products and sums in float64.
  virtual void gemm(Op op_a, Op op_b, double alpha, In<float> a, In<double> b, double beta,
                    Out<double> c) = 0;

  /// Y = R A with a symmetric A, the product of a preconditioner: as exact as float32 products, except for
  /// the order of additions, by the fastest method (on a GPU three tensor-core products of split operands).
  virtual void multiply_symmetric(In<float> r, In<float> a, Out<float> y) = 0;
  /// Whether it splits float32 operands of this size for tensor cores.
  [[nodiscard]] virtual bool splits_products(std::int64_t size) const = 0;
  void multiply_symmetric(In<double> r, In<double> a, Out<double> y) {
    gemm(Op::none, Op::none, 1.0, r, a, 0.0, y);
  }

  /// G = X' diag(a) X with X the 0/1 support of `x` (its values are ignored); all of the symmetric G is
  /// written. `row_weights` is a, one for each row of x, or empty for a = 1. Added up in float64, or counted
  /// exactly when a = 1, then rounded once. sum over rows of |row|^2 operations.
  virtual void gram(CsrView x, std::span<const float> row_weights, Out<float> g) = 0;
  virtual void gram(CsrView x, std::span<const float> row_weights, Out<double> g) = 0;

  /// Y = X B; without values every stored entry of X is 1. Up to 32 entries of a row are added in float32,
  /// such sums in float64, and the total is rounded once: the error is at most 2e-6 sum_i |X_ui B_ij|, in
  /// practice some 1e-7 of it, for rows of any length. Y_u depends on row u alone, not on the rows given with
  /// it. 2 entries(X) cols(B) operations; copies up to 128 columns of B when X has many entries.
  virtual void spmm(CsrView x, In<float> b, Out<float> y) = 0;
  /// The same in float64, entry after entry.
  virtual void spmm(CsrView x, In<double> b, Out<double> y) = 0;
  /// With a sparse B: added up in float64 in the order of X's entries and rounded once. 2 entries(B_i)
  /// operations for each entry (u, i) of X.
  virtual void spmm(CsrView x, CsrView b, Out<float> y) = 0;

  /// Y = Z V' for any number of users Z and all items V: Y_u depends on row u alone, on a GPU up to rounding.
  /// At least in float32. 2 rows(Z) rows(V) cols(V) operations.
  virtual void factor_scores(In<float> z, In<float> v, Out<float> y) = 0;

  /// out_e = t_u . v_i for every stored entry e = (u, i) of `x`, whose values are not read: the product T V'
  /// on the support of x alone. Products and their sums in float32. 2 entries(x) cols(v) operations; copies
  /// V.
  virtual void sampled_dots(CsrView x, In<float> t, In<float> v, std::span<float> out) = 0;

  /// S_u += sum over the stored entries (u, i) of `x` of (w_ui - c_ui (t_u . v_i)) v_i: row u of
  /// (W - C o (T V')) V, with w and c parallel to the stored entries, either of them empty for zeros. Dots in
  /// float32, their combination as in spmm. S_u depends on row u alone. 4 entries(x) cols(v) operations;
  /// copies V.
  virtual void sampled_product(CsrView x, std::span<const float> w, std::span<const float> c, In<float> t,
                               In<float> v, Out<float> s) = 0;

  /// The sum of c_e x_e y_e, products and sum in float64; each of the three may be empty for ones, but not
  /// all.
  [[nodiscard]] virtual double triple_dot(std::span<const float> c, std::span<const float> x,
                                          std::span<const float> y) = 0;

  /// Z' diag(a) Z (d x d, both triangles) in float64, a >= 0 or empty for ones; the result lies in ordinary
  /// memory. rows d^2 operations.
  [[nodiscard]] virtual Matrix<double> factor_gram(In<float> z, std::span<const float> a) = 0;
  /// Y' diag(a) Z in the same way, a of any sign, at twice the cost.
  [[nodiscard]] virtual Matrix<double> factor_product(In<float> y, std::span<const float> a, In<float> z) = 0;
  /// Y <- Z A + Y B in float32; without rows in A there is no first term, without rows in B no second, and Y
  /// is not read.
  virtual void combine_rows(In<float> z, const Matrix<double>& a, Out<float> y, const Matrix<double>& b) = 0;
  /// Z <- Z A.
  void multiply_rows(Out<float> z, const Matrix<double>& a) {
    combine_rows({z.data, 0, z.cols, z.stride}, {}, z, a);
  }
  /// x_ij <- x_ij / (s_i t_j + shift), and 0 where the divisor is not above 0.
  virtual void divide_by_products(Out<float> x, Numbers s, Numbers t, double shift) = 0;

  /// Solves all rows. On entry row i of y (rows x d) is a start, on exit the solution: by conjugate gradients
  /// with D as the preconditioner, 4 |row| d operations a step, or a d x d Cholesky factorization, |row| d^2
  /// + d^3 / 3, by count unless a route is asked for. A row does not depend on the others. May be stopped:
  /// Error{interrupted}.
  virtual RowsSolved solve_rows(const RowSystems& systems, Out<float> y, RowTolerance tolerance,
                                RowRoute route = RowRoute::counted) = 0;
  /// Measures saved rows v (rows x d) of factors Z that need not be rotated: `E` (d x d) transforms both to
  /// the rotated basis, Z E and E^-1 v, to which sigma belongs; empty if they are rotated already. Residuals
  /// and all sums in float64. 4 entries d + 4 rows d^2 operations.
  [[nodiscard]] virtual RowsChecked check_rows(const RowSystems& systems, In<float> v, In<double> E,
                                               In<double> E_inverse) = 0;

  /// The top `count` eigenpairs of the symmetric A, of which one triangle is read and all is overwritten;
  /// they lie in ordinary memory. Error{numerical} if it fails. About 9 n^3 operations, and memory for 2 n^2
  /// numbers besides A. If A is float32 so is the work: values are then exact to 1e-6 of the largest.
  [[nodiscard]] virtual EigenPairs symmetric_eigenpairs(Out<double> a, std::int64_t count) = 0;
  [[nodiscard]] virtual EigenPairs symmetric_eigenpairs(Out<float> a, std::int64_t count) = 0;
  /// All of them.
  [[nodiscard]] EigenPairs symmetric_eigenpairs(Matrix<double> a);

  /// A <- A^-1 in place for a symmetric positive definite A, given and returned with both triangles. If A is
  /// not positive definite in working precision or has an entry that is not finite, the outcome says so and
  /// the contents are unspecified. n^3 flops; a copy of at most 512 columns.
  [[nodiscard]] virtual SpdInverse invert_spd(Out<float> a) = 0;
  [[nodiscard]] virtual SpdInverse invert_spd(Out<double> a) = 0;

  /// out_s += sum over u in S_i of c_ui x_u (x_u . p_s), with i = items[s]: the sparse part of weighted
  /// column systems, X' diag(c_:i) X p_s. `x` holds the 0/1 rows x_u, users x items (its values are ignored);
  /// `columns`, items x users, holds in row i the users S_i and, as values, their c_ui (1 without values). A
  /// system s is a row of p and of out, as long as x has columns. Added up in float64, then rounded once.
  /// 4 sum over s and u in S_i of |x_u| operations, as gathers from p_s and scatters.
  virtual void column_hessian(CsrView x, CsrView columns, Indices items, In<float> p, Out<float> out) = 0;
  virtual void column_hessian(CsrView x, CsrView columns, Indices items, In<double> p, Out<double> out) = 0;

  /// out_s = sum over u in S_i of c_ui (x_u . p_s), i = items[s], all as above and in float64. Half the work.
  /// The x_u . p_s themselves go to `scores`, one system after the other, unless that is empty.
  virtual void column_form(CsrView x, CsrView columns, Indices items, In<float> p, std::span<double> out,
                           std::span<double> scores) = 0;
  virtual void column_form(CsrView x, CsrView columns, Indices items, In<double> p, std::span<double> out,
                           std::span<double> scores) = 0;

  /// The k best columns of each row of scores without those stored in the same row of `excluded` and, if
  /// given, from `only` (ascending) alone; order, NaN and short lists as in linalg/top_k.hpp.
  virtual RankedLists top_k(In<float> scores, CsrView excluded, std::int64_t k,
                            std::optional<Indices> only) = 0;
  RankedLists top_k(In<float> scores, CsrView excluded, std::int64_t k) {
    return top_k(scores, excluded, k, std::nullopt);
  }
};

enum class BackendKind { reference, cpu, cuda };

/// "reference", "cpu", "cuda".
std::string_view to_string(BackendKind kind);

/// The reference backend (plain loops, the oracle of all others) always runs on one thread. Error{resources}
/// for cuda if there is no GPU, or no backend for it in this build. An observer sees the progress of an
/// inversion, which takes long, and may stop it: Error{interrupted}, contents unspecified.
std::unique_ptr<Backend> make_backend(BackendKind kind, int threads, Observer* observer = nullptr);

}  // namespace poise
