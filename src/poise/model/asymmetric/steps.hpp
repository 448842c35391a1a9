#pragma once

#include "poise/backend/row_systems.hpp"
#include "poise/model/asymmetric/problem.hpp"
#include "poise/solver/kronecker.hpp"
#include "poise/solver/pcg.hpp"

namespace poise {

/// V given U (the paper's equations 10, 14 and 15): rows decouple. Changes the basis of the pair first, and
/// drops directions in which U vanishes; the point's other members are not kept. The start is the point's
/// V.
RowsSolved solve_V(const AsymmetricProblem& problem, AsymmetricPoint& point, double tolerance,
                   Backend& backend);

/// U given V (equations 9, 12 and 13), from the point's U, until re-solving could gain no more than
/// `excess`. Changes the basis too. Reads and keeps U and V alone.
PcgOutcome solve_U(const AsymmetricProblem& problem, const LeftFactor& left, AsymmetricPoint& point,
                   double excess, Backend& backend, Observer* observer);

/// A bound on the decrease of a complete point's objective by re-solving V alone: r'M^-1 r / lo.
double V_excess(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend);

/// The same for U.
double U_excess(const AsymmetricProblem& problem, const LeftFactor& left, const AsymmetricPoint& point,
                Backend& backend);

/// The same at W = 1, where the residual is G0 D (without lambda, or with it in the metric of the data), so
/// that r' (G0 (nu + lambda))^-1 r needs no inverse.
double unweighted_U_excess(const AsymmetricProblem& problem, const AsymmetricPoint& point, Backend& backend);

}  // namespace poise
