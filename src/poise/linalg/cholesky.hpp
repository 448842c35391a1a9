#pragma once

#include <cstdint>
#include <span>

#include "poise/linalg/matrix.hpp"

namespace poise {

/// Symmetric positive definite matrices of some hundred rows, on one thread, in float64: the upper triangle
/// of H by rows; rows are `stride` apart, a multiple of 8, and readable and writable to that end. LAPACK
/// takes two to four times as long for them. Each entry of the factor is a sum in a fixed order that does not
/// depend on the rows below: factor, products and solutions of a leading block are bit for bit those of that
/// block alone.
namespace cholesky {

/// The stride of k columns.
constexpr std::int64_t stride_of(std::int64_t k) { return (k + 7) / 8 * 8; }

/// H = U'U, in place; k^3 / 3 operations. False where a pivot is not positive.
bool factor(MatrixView<double> H);

/// x <- U'^-1 x of the leading block of x.size() rows.
void solve_transposed(MatrixView<const double> U, std::span<double> x);
/// x <- U^-1 x likewise.
void solve(MatrixView<const double> U, std::span<double> x);
/// y = H x likewise.
void multiply(MatrixView<const double> H, std::span<const double> x, std::span<double> y);

}  // namespace cholesky

}  // namespace poise
