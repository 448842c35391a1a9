#pragma once

#include "poise/linalg/matrix.hpp"

namespace poise {

/// scores = Z V', with Z (users x d) in float64 and V (items x d): added up in float64 and rounded once. A
/// score does not depend on the users and items it is computed with. 2 users items d operations, on the
/// calling thread.
void factor_scores(MatrixView<const double> Z, MatrixView<const float> V, MatrixView<float> scores);

}  // namespace poise
