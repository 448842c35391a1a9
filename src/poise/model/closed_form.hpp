#pragma once

#include <cstdint>

#include "poise/linalg/matrix.hpp"
#include "poise/model/regularizer.hpp"
#include "poise/model/spectrum/spectrum.hpp"

namespace poise {

struct Factors {
  Matrix<float> U;
  Matrix<float> V;
};

/// The global optimum of the unweighted asymmetric problem, of any rank d and lambda >= 0, from the top d
/// pairs of G = X'X; with q_d the first d columns of Q,
///
///     weight decay:       U = V = q_d diag(sqrt(max(0, 1 - lambda / s)))
///     dropout:            V = q_d,  U = q_d diag(s / (s + lambda))
///     data/weight decay:  V = q_d diag(sqrt(t)),  U = q_d diag(sqrt(t / s)),  t = max(0, sqrt(s) - lambda).
///
/// U and V are n x d; columns beyond the nonzero eigenvalues are 0. For weight decay and dropout also with
/// row weights a, from the pairs of X' diag(a) X. With U = X times that of data/weight decay it is the
/// optimum of unweighted matrix factorization, min || X - U V' ||^2 + lambda (||U||^2 + ||V||^2): the
/// soft-thresholded singular value decomposition.
Factors asymmetric_closed_form(Regularizer regularizer, const Spectrum& spectrum, std::int64_t rank,
                               double lambda);

/// The lambda at whose closed form a weighted solve starts: min(lambda, s_d / 2), for data/weight decay and
/// matrix factorization min(lambda, sqrt(s_d) / 2), with s_d the last of the first d that is not 0. A
/// direction that starts at U = V = 0 would stay there, though the weighted optimum may have it.
double start_lambda(Regularizer regularizer, const Spectrum& spectrum, std::int64_t rank, double lambda);

}  // namespace poise
