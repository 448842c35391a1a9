#pragma once

#include <cstdint>
#include <vector>

#include "poise/linalg/matrix.hpp"

namespace poise {

/// Upper bounds on all diagonal entries of a symmetric positive semidefinite K, from its products with q
/// standard normal vectors, columns of z (n x q); they hold except with probability `doubt`. `Kz` holds the
/// products, each entry (Kz)_ip wrong by at most sqrt(K_ii) times a number of column p; `remainder` is the
/// norm of these numbers.
///
/// (Kz)_i is a normal number whose variance is the square of row i of K, at least K_ii^2, so q draws bound
/// K_ii. If a few directions dominate K (errors common to all columns), the row is much longer than its
/// diagonal entry; the first `basis` probes find these directions. With N = K Z (Z'KZ)^-1 Z'K of those
/// (Nystrom), or any N that depends on them alone, K_ii = N_ii + E_ii, and the other probes bound the rows of
/// E = K - N.
std::vector<double> bound_diagonal(const Matrix<double>& z, const Matrix<double>& Kz, double remainder,
                                   std::int64_t basis, double doubt);

}  // namespace poise
