#pragma once

namespace poise {

// Where one precision ends and what counts as nothing, each with its reason. Without a unit they are parts of
// the largest number of their kind.

/// Up to this condition number (2-norm) float32 holds an inverse: its rounding, 6e-8, times that is 6e-3 of a
/// vector, which refinement makes good. Beyond it float64 does.
constexpr double float32_condition = 1e5;
/// Where lambda is the smallest eigenvalue float64 goes that far: what rounding leaves in the directions that
/// only lambda holds is then 3e-15 times that of r'M^-1 r.
constexpr double float64_condition = 1e12;

/// Eigenvalues of G whose direction counts as none where lambda does not hold it: float32 factors could not
/// express them (their rounding costs 1e-15 / cut-off of the explained weight), and G0 is singular with fewer
/// users than items or with duplicate items. U stays in the range that is left: the minimum-norm solution.
constexpr double range_cut_off = 1e-8;
/// Eigenvalues of the Gram matrix of a fixed factor, formed in float64 from float32 factors, that are nothing
/// but rounding.
constexpr double dead_direction = 1e-11;
/// The same where a metric is made of them, which is divided by their roots.
constexpr double gram_cut_off = 1e-13;
/// Singular values of one float32 factor, and of the product of two, that are rounding.
constexpr double factor_noise = 1e-10;
constexpr double product_noise = 1e-7;

/// Objectives of float32 factors nearer to each other than this part of the observed weight are not compared:
/// rows solved in float32 say what they explain with errors below it.
constexpr double told_apart = 1e-8;
/// Solves in float32 gain about that part of the objective from their own rounding.
constexpr double gain_of_rounding = 1e-12;
/// A column that explains less than this part of its own weight counts as one that explains nothing.
constexpr double negligible_share = 1e-7;

/// r'M^-1 r of a system that makes progress halves within a few iterations of conjugate gradients; one that
/// has not for this many is at the floor of its precision.
constexpr int stagnation_iterations = 12;

}  // namespace poise
