#pragma once

#include <vector>

#include "poise/linalg/matrix.hpp"

namespace poise {

/// An upper bound on tr K of a symmetric positive semidefinite K, from q standard normal vectors z; it holds
/// except with probability `doubt`. `forms` are at least z'Kz, one for each; column p of `Kz` is K z_p, each
/// entry (Kz)_ip wrong by at most sqrt(K_ii) times a number of column p; `remainder` is the norm of these
/// numbers.
///
/// z'Kz is a sum of squares of normal numbers times the eigenvalues of K, so the mean T of q such forms is
/// below its expectation tr K by more than 2 |K|_F sqrt(x / q) with a chance of at most e^-x (Laurent and
/// Massart 2000, lemma 1), and |K|_F is bounded by the vectors K z themselves (solver/probes.hpp, of K^2):
///
///     tr K <= T + 2 sqrt(x / q) |K|_F,     |K|_F^2 <= (sum of |Kz|^2) / chi2_q.
///
/// If many directions share the trace, |K|_F is a small part of it and T is nearly the truth; if one
/// direction holds all of it, the bound is 1 + 2 sqrt(x / chi2_q) times the truth.
double bound_trace(const std::vector<double>& forms, const Matrix<double>& Kz, double remainder,
                   double doubt);
/// The same where only the sum of |Kz|^2 is kept.
double bound_trace(const std::vector<double>& forms, double squares, double remainder, double doubt);

}  // namespace poise
