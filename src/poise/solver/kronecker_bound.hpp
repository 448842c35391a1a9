#pragma once

#include "poise/backend/backend.hpp"
#include "poise/backend/resident.hpp"
#include "poise/solver/kronecker.hpp"

namespace poise {

/// An upper bound on r'M^-1 r for the U step's system at C = 0, M(P) = G P diag(nu) + lambda P, that does not
/// trust the inverse in `left`: with any e, and s = r - M(e) through X in float64,
///
///     r'M^-1 r = r'e + e's + s'M^-1 s <= r'e + e's + s's / lambda,
///
/// since M >= lambda. A few steps of conjugate gradients find e. `r` is overwritten.
///
/// With the data metric only M >= lambda G0 holds, and G0 may be singular: no e bounds the term of s. The
/// result is then r'P r with the computed inverse, in float64 if its condition requires it.
double bound_inverse_form(const UProblem& problem, const LeftFactor& left, Resident<float>& r,
                          Backend& backend);

}  // namespace poise
