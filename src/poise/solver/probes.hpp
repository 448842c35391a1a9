#pragma once

#include <cstdint>
#include <vector>

#include "poise/linalg/matrix.hpp"

namespace poise {

/// Random probes of a quadratic form. With z standard normal and K symmetric positive semidefinite, E z'Kz =
/// tr K; of all such K with that trace one of rank one is the most likely to look small (Roosta-Khorasani,
/// Szekely and Ascher 2015), so from q independent probes
///
///     tr K <= (sum of z'Kz) / chi2_q(delta)     with probability at least 1 - delta,
///
/// chi2_q(delta) the lower delta-quantile. Returns 1 / chi2_q(delta).
double probe_factor(std::int64_t probes, double delta);

/// How many standard errors a normal mean may be from the truth, except with probability `doubt`, if the
/// errors have so many degrees of freedom (Student's distribution).
double student_quantile(double degrees, double doubt);

/// The largest distance between the mean of independent normal numbers and their expectation, except with
/// probability `doubt` (Student's distribution); infinite for fewer than two.
double error_of_mean(const std::vector<double>& draws, double doubt);

/// The purpose of draws. Streams of different purposes are independent of each other and of every other
/// random number that Poise draws, so that the probed model cannot depend on them.
enum class ProbeStream : std::uint64_t { sum = 0x70726F62, sum_again, columns, share };

/// items x count standard normal numbers, probes [first, first + count); they depend on the stream and the
/// position alone.
Matrix<double> draw_probes(ProbeStream stream, std::int64_t items, std::int64_t first, std::int64_t count,
                           int threads);

}  // namespace poise
