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
/// since M >= lambda. A few conjugate gradients find e. `r` is used up.
///
/// With the data metric M >= lambda G0 alone, and G0 may be singular: no e bounds what s leaves. There it is
/// r'P r with the inverse as it was computed, in float64 where its condition asks for that.
double bound_inverse_form(const UProblem& problem, const LeftFactor& left, Resident<float>& r,
                          Backend& backend);

}  // namespace poise
