#pragma once

#include <algorithm>

#include <cblas.h>
#include <lapacke.h>

#include "poise/linalg/matrix.hpp"

/// BLAS and LAPACK on row-major views, overloaded for float and double. LAPACK's lower triangle of a
/// column-major matrix is the upper triangle here.
namespace poise::dense {

template <class T>
blasint leading(MatrixView<T> matrix) {
  // BLAS requires a positive stride, even for an empty matrix.
  return static_cast<blasint>(std::max<std::int64_t>(1, matrix.stride));
}

template <class T>
MatrixView<T> part(MatrixView<T> matrix, std::int64_t row, std::int64_t rows, std::int64_t col,
                   std::int64_t cols) {
  return {matrix.data + row * matrix.stride + col, rows, cols, matrix.stride};
}

/// C += alpha A B'.
inline void add_product(float alpha, MatrixView<const float> a, MatrixView<const float> b,
                        MatrixView<float> c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(c.rows),
              static_cast<blasint>(c.cols), static_cast<blasint>(a.cols), alpha, a.data, leading(a), b.data,
              leading(b), 1, c.data, leading(c));
}
inline void add_product(double alpha, MatrixView<const double> a, MatrixView<const double> b,
                        MatrixView<double> c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(c.rows),
              static_cast<blasint>(c.cols), static_cast<blasint>(a.cols), alpha, a.data, leading(a), b.data,
              leading(b), 1, c.data, leading(c));
}

/// The upper triangle of C += alpha A A'.
inline void add_square(float alpha, MatrixView<const float> a, MatrixView<float> c) {
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasNoTrans, static_cast<blasint>(c.rows),
              static_cast<blasint>(a.cols), alpha, a.data, leading(a), 1, c.data, leading(c));
}
inline void add_square(double alpha, MatrixView<const double> a, MatrixView<double> c) {
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, static_cast<blasint>(c.rows),
              static_cast<blasint>(a.cols), alpha, a.data, leading(a), 1, c.data, leading(c));
}

/// B <- alpha op(U)^-1 B on the left, alpha B op(U)^-1 on the right.
inline void solve_upper(CBLAS_SIDE side, CBLAS_TRANSPOSE op, float alpha, MatrixView<const float> u,
                        MatrixView<float> b) {
  cblas_strsm(CblasRowMajor, side, CblasUpper, op, CblasNonUnit, static_cast<blasint>(b.rows),
              static_cast<blasint>(b.cols), alpha, u.data, leading(u), b.data, leading(b));
}
inline void solve_upper(CBLAS_SIDE side, CBLAS_TRANSPOSE op, double alpha, MatrixView<const double> u,
                        MatrixView<double> b) {
  cblas_dtrsm(CblasRowMajor, side, CblasUpper, op, CblasNonUnit, static_cast<blasint>(b.rows),
              static_cast<blasint>(b.cols), alpha, u.data, leading(u), b.data, leading(b));
}

/// A = U'U in the upper triangle; false if a pivot is not positive.
inline bool factor_upper(MatrixView<float> a) {
  return LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'L', static_cast<lapack_int>(a.rows), a.data, leading(a)) == 0;
}
inline bool factor_upper(MatrixView<double> a) {
  return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', static_cast<lapack_int>(a.rows), a.data, leading(a)) == 0;
}

/// (U'U)^-1 in the upper triangle, from U there; false if U is singular.
inline bool invert_factored(MatrixView<float> a) {
  return LAPACKE_spotri_work(LAPACK_COL_MAJOR, 'L', static_cast<lapack_int>(a.rows), a.data, leading(a)) == 0;
}
inline bool invert_factored(MatrixView<double> a) {
  return LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', static_cast<lapack_int>(a.rows), a.data, leading(a)) == 0;
}

}  // namespace poise::dense
