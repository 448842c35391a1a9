// What random probes prove of a trace and a diagonal, tried with matrices that mislead them most.
#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "poise/solver/diagonal_bound.hpp"
#include "poise/solver/probes.hpp"
#include "poise/solver/trace_bound.hpp"

namespace poise {
namespace {

constexpr std::int64_t size = 40;

/// K = sum over m of k_m v_m v_m' with orthogonal v: the m-th unit vector, or a wave over all coordinates.
Matrix<double> with_eigenvalues(const std::function<double(std::int64_t)>& k, bool waves) {
  Matrix<double> K(size, size);
  for (std::int64_t m = 0; m < size; ++m) {
    for (std::int64_t i = 0; i < size; ++i) {
      for (std::int64_t j = 0; j < size; ++j) {
        const auto at = [&](std::int64_t x) {  // the columns of a discrete cosine transform
          if (!waves) return x == m ? 1.0 : 0.0;
          const double scale = std::sqrt((m == 0 ? 1.0 : 2.0) / size);
          return scale * std::cos(M_PI * static_cast<double>(m) * (static_cast<double>(x) + 0.5) / size);
        };
        K(i, j) += k(m) * at(i) * at(j);
      }
    }
  }
  return K;
}

struct Drawn {
  Matrix<double> z;
  Matrix<double> Kz;
  std::vector<double> forms;
};

Drawn draw(const Matrix<double>& K, std::int64_t probes, std::mt19937& random) {
  std::normal_distribution<double> normal;
  Drawn drawn{Matrix<double>(size, probes), Matrix<double>(size, probes), std::vector<double>(probes, 0.0)};
  for (std::int64_t i = 0; i < size; ++i) {
    for (double& entry : drawn.z.row(i)) entry = normal(random);
  }
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::int64_t p = 0; p < probes; ++p) {
      for (std::int64_t j = 0; j < size; ++j) drawn.Kz(i, p) += K(i, j) * drawn.z(j, p);
      drawn.forms[p] += drawn.z(i, p) * drawn.Kz(i, p);
    }
  }
  return drawn;
}

/// How many of `trials` draws prove too little, and the largest and mean bound over the truth.
struct Outcome {
  int failures = 0;
  double largest = 0;
};

constexpr double doubt = 0.02;
constexpr int trials = 1000;
/// Failures that a right bound exceeds with a chance of 1e-6: 20 expected at the most.
constexpr int too_many = 45;

Outcome trace_outcome(const Matrix<double>& K, std::int64_t probes) {
  std::mt19937 random(5);
  double trace = 0;
  for (std::int64_t i = 0; i < size; ++i) trace += K(i, i);
  Outcome outcome;
  for (int trial = 0; trial < trials; ++trial) {
    const Drawn drawn = draw(K, probes, random);
    const double ratio = bound_trace(drawn.forms, drawn.Kz, 0, doubt) / trace;
    outcome.failures += ratio < 1 ? 1 : 0;
    outcome.largest = std::max(outcome.largest, ratio);
  }
  return outcome;
}

Outcome diagonal_outcome(const Matrix<double>& K, std::int64_t probes, std::int64_t basis) {
  std::mt19937 random(6);
  Outcome outcome;
  for (int trial = 0; trial < trials; ++trial) {
    const Drawn drawn = draw(K, probes, random);
    const std::vector<double> bounds = bound_diagonal(drawn.z, drawn.Kz, 0, basis, doubt);
    bool failed = false;
    for (std::int64_t i = 0; i < size; ++i) {
      failed = failed || bounds[i] < K(i, i) * (1 - 1e-9);
      if (K(i, i) > 0) outcome.largest = std::max(outcome.largest, bounds[i] / K(i, i));
    }
    outcome.failures += failed ? 1 : 0;
  }
  return outcome;
}

const auto one_direction = [](std::int64_t m) { return m == 3 ? 1.0 : 0.0; };
const auto alike = [](std::int64_t) { return 1.0; };
const auto falling = [](std::int64_t m) { return std::pow(0.7, static_cast<double>(m)); };

TEST(ProbeBounds, TracesAreCoveredAsOftenAsPromised) {
  for (const bool waves : {false, true}) {
    for (const std::int64_t probes : {4, 16, 64}) {
      EXPECT_LE(trace_outcome(with_eigenvalues(one_direction, waves), probes).failures, too_many);
      EXPECT_LE(trace_outcome(with_eigenvalues(alike, waves), probes).failures, too_many);
      EXPECT_LE(trace_outcome(with_eigenvalues(falling, waves), probes).failures, too_many);
    }
  }
}

TEST(ProbeBounds, ATraceOfManyDirectionsIsBoundedClosely) {
  EXPECT_LE(trace_outcome(with_eigenvalues(alike, true), 64).largest, 1.5);
  // One direction: 1 + 2 sqrt(x / chi2), x = log(2 / doubt) = 4.6 and chi2 = 40.6, times a high draw.
  EXPECT_LE(trace_outcome(with_eigenvalues(one_direction, true), 64).largest, 1.7 * 1.7);
}

TEST(ProbeBounds, DiagonalsAreCoveredAsOftenAsPromised) {
  for (const bool waves : {false, true}) {
    for (const std::int64_t basis : {0, 6}) {
      EXPECT_LE(diagonal_outcome(with_eigenvalues(one_direction, waves), 16, basis).failures, too_many);
      EXPECT_LE(diagonal_outcome(with_eigenvalues(alike, waves), 16, basis).failures, too_many);
      EXPECT_LE(diagonal_outcome(with_eigenvalues(falling, waves), 16, basis).failures, too_many);
    }
  }
}

TEST(ProbeBounds, RemaindersAreAddedToWhatIsKnown) {
  // Products that are wrong by as much as the remainder allows, against the bound.
  std::mt19937 random(8);
  const Matrix<double> K = with_eigenvalues(falling, true);
  double trace = 0;
  for (std::int64_t i = 0; i < size; ++i) trace += K(i, i);
  constexpr std::int64_t probes = 32;
  constexpr double each = 0.3;  // of every column
  for (int trial = 0; trial < 200; ++trial) {
    Drawn drawn = draw(K, probes, random);
    for (std::int64_t i = 0; i < size; ++i) {
      for (double& entry : drawn.Kz.row(i)) {
        const double wrong = each * std::sqrt(K(i, i));
        entry = std::abs(entry) > wrong ? entry - std::copysign(wrong, entry) : 0.0;
      }
    }
    const double remainder = each * std::sqrt(static_cast<double>(probes));
    EXPECT_GE(bound_trace(drawn.forms, drawn.Kz, remainder, 1e-9), trace);
    const std::vector<double> bounds = bound_diagonal(drawn.z, drawn.Kz, remainder, 0, 1e-9);
    for (std::int64_t i = 0; i < size; ++i) EXPECT_GE(bounds[i], K(i, i));
  }
}

TEST(ProbeBounds, WhatIsNotANumberProvesNothing) {
  std::mt19937 random(9);
  Drawn drawn = draw(with_eigenvalues(alike, false), 8, random);
  drawn.Kz(2, 3) = NAN;
  EXPECT_EQ(bound_trace(drawn.forms, drawn.Kz, 0, 1e-9), INFINITY);
  drawn.Kz(2, 3) = 0;
  drawn.forms[1] = INFINITY;
  EXPECT_EQ(bound_trace(drawn.forms, drawn.Kz, 0, 1e-9), INFINITY);
}

TEST(ProbeBounds, TheErrorOfAMeanCoversIt) {
  std::mt19937 random(10);
  std::normal_distribution<double> normal(3, 2);
  int failures = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> draws(6);
    double mean = 0;
    for (double& draw : draws) mean += (draw = normal(random)) / 6;
    failures += std::abs(mean - 3) > error_of_mean(draws, doubt) ? 1 : 0;
  }
  EXPECT_LE(failures, too_many);
  EXPECT_GE(failures, 3);
  EXPECT_EQ(error_of_mean({1.0}, doubt), INFINITY);
}

}  // namespace
}  // namespace poise
