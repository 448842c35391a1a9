#pragma once

#include <algorithm>

#include "poise/linalg/dense_kernels.hpp"
#include "poise/linalg/matrix.hpp"

/// A^-1 by sweeping one block of columns after the other (Bientinesi, Gunter and van de Geijn 2008: Cholesky,
/// the triangle's inverse and their product in one pass). With K the blocks swept so far and R the others,
/// the upper triangle of A holds
///
///   KK: A_KK^-1     KR: A_KK^-1 A_KR     RR: A_RR - A_RK A_KK^-1 A_KR.
///
/// Block k, with S_kk = U'U and the panel P_i = S_ik U^-1 of all other rows, is swept by
///
///   S_ij <- S_ij + P_i P_j' when i and j are both swept, else S_ij - P_i P_j',
///   S_ik <- -P_i U^-T when i is swept, else P_i U^-T,       S_kk <- (U'U)^-1.
///
/// Nearly all n^3 flops are those products, with an inner dimension of one block. U and its inverse are
/// computed in memory of their own: some kernels of OpenBLAS (Prescott's, Sandybridge's) round a
/// factorization in float64 otherwise where rows begin at an odd place, and results should not depend on A's
/// stride.
namespace poise::sweep {

// A stride that is a power of two would have all rows of a panel share few cache sets.
inline std::int64_t panel_stride(std::int64_t block) { return block + 16; }

template <class T>
void copy(MatrixView<T> from, MatrixView<T> to) {
  for (std::int64_t r = 0; r < to.rows; ++r) std::copy_n(from.row(r).begin(), to.cols, to.row(r).begin());
}

template <class T>
void transpose_into(MatrixView<T> from, MatrixView<T> to) {
  constexpr std::int64_t edge = 32;
  for (std::int64_t r = 0; r < to.rows; r += edge) {
    for (std::int64_t c = 0; c < to.cols; c += edge) {
      for (std::int64_t i = r; i < std::min(r + edge, to.rows); ++i) {
        for (std::int64_t j = c; j < std::min(c + edge, to.cols); ++j) to(i, j) = from(j, i);
      }
    }
  }
}

/// P_i, and S_ik after the step: of a block i that is swept, s = S_ik; else s = S_ki.
template <class T>
void form_panel(bool swept, MatrixView<T> u, MatrixView<T> s, MatrixView<T> p) {
  if (swept) {
    dense::solve_upper(CblasRight, CblasNoTrans, T{1}, u, s);
    copy(s, p);
    dense::solve_upper(CblasRight, CblasTrans, T{-1}, u, s);
  } else {
    dense::solve_upper(CblasLeft, CblasTrans, T{1}, u, s);
    transpose_into(s, p);
    dense::solve_upper(CblasLeft, CblasNoTrans, T{1}, u, s);
  }
}

/// Block columns of S, `count` of them beside each other, of block row i: S_ij + sign P_i P_j', of which the
/// first is on the diagonal or not.
template <class T>
void add_products(T sign, bool diagonal, MatrixView<T> p_i, MatrixView<T> p_j, MatrixView<T> s) {
  if (diagonal) {
    dense::add_square(sign, p_i, dense::part(s, 0, p_i.rows, 0, p_i.rows));
    p_j = {p_j.data + p_i.rows * p_j.stride, p_j.rows - p_i.rows, p_j.cols, p_j.stride};
    s = dense::part(s, 0, p_i.rows, p_i.rows, p_j.rows);
  }
  if (p_j.rows > 0) dense::add_product(sign, p_i, p_j, s);
}

}  // namespace poise::sweep
