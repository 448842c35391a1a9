#pragma once

namespace poise {

// Limits of each precision and thresholds below which a value counts as zero, each with its reason. Unless a
// unit is given, they are shares of the largest number of their kind.

/// Up to this condition number (2-norm) an inverse is held in float32: its rounding, 6e-8, times the
/// condition number is 6e-3 of a vector, which refinement corrects. Beyond it the inverse is held in float64.
constexpr double float32_condition = 1e5;
/// The same limit for float64 if lambda is the smallest eigenvalue: in the directions that only lambda
/// supports, rounding then leaves 3e-15 times this number, as a share of r'M^-1 r.
constexpr double float64_condition = 1e12;

/// Eigenvalues of G below this count as zero unless lambda supports their direction: float32 factors could
/// not represent them (their rounding costs 1e-15 / cut-off of the explained weight), and G0 is singular if
/// there are fewer users than items or duplicate items. U stays in the remaining range: the minimum-norm
/// solution.
constexpr double range_cut_off = 1e-8;
/// Eigenvalues below this of the Gram matrix of a fixed factor are rounding: the matrix is formed in float64
/// from float32 factors.
constexpr double dead_direction = 1e-11;
/// The same for a metric, which divides by the roots of these eigenvalues.
constexpr double gram_cut_off = 1e-13;
/// Singular values below this of one float32 factor, and of the product of two, are rounding.
constexpr double factor_noise = 1e-10;
constexpr double product_noise = 1e-7;

/// Objectives of float32 factors that differ by less than this share of the observed weight are not compared:
/// the row solves report what they explain with errors of that size.
constexpr double told_apart = 1e-8;
/// Solves in float32 gain about this share of the objective from their own rounding.
constexpr double gain_of_rounding = 1e-12;
/// A column that explains less than this share of its own weight counts as one that explains nothing.
constexpr double negligible_share = 1e-7;

/// While a system makes progress, r'M^-1 r halves within a few iterations of conjugate gradients. If it has
/// not halved for this many iterations, it has reached the limit of its precision.
constexpr int stagnation_iterations = 12;

}  // namespace poise
