#include "poise/model/asymmetric/fit.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "poise/model/asymmetric/gauge.hpp"
#include "poise/model/asymmetric/left_factor.hpp"
#include "poise/model/asymmetric/objective.hpp"
#include "poise/model/asymmetric/steps.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/asymmetric_oracle.hpp"
#include "support/low_rank_data.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"
#include "support/there.hpp"

namespace poise {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::AsymmetricOracle;
using testing::GeneralWeights;
using testing::random_csr;
using testing::random_matrix;
using testing::to_eigen;
using testing::vec;

const Regularizer all[] = {Regularizer::weight_decay, Regularizer::dropout, Regularizer::data_weight_decay};

/// Users of three tastes, so that there are directions to find.
Csr tasteful(std::int64_t users, std::int64_t items, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform;
  Csr X{.rows = users, .cols = items, .offsets = {0}};
  for (std::int64_t u = 0; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      if (uniform(generator) < (i % 3 == u % 3 ? 0.6 : 0.1)) X.indices.push_back(i);
    }
    X.offsets.push_back(X.entries());
  }
  return X;
}

struct Lab {
  Execution execution = {.threads = 2};
  std::unique_ptr<Backend> backend = testing::tested_backend(2);
  Csr X = tasteful(60, 12, 1);

  LowRankFit fit(const Weights& W, const AsymmetricOptions& options) {
    const Spectrum top = top_spectrum(X.view(), {}, std::min(options.rank, X.cols), *backend, execution);
    return fit_asymmetric(X.view(), W, options, top, *backend, execution);
  }
  AsymmetricPoint point(unsigned U_seed, unsigned V_seed) const {
    return {Resident<float>(*backend, random_matrix<float>(12, 3, U_seed)),
            Resident<float>(*backend, random_matrix<float>(12, 3, V_seed))};
  }
  [[nodiscard]] Matrix<double> gram(const Matrix<float>& A) const {
    return backend->factor_gram(Lent(*backend, A).view(), {});
  }
  [[nodiscard]] Roots roots(const Matrix<float>& U) const { return roots_of(gram(U), 1e-13, *backend); }
  Weights constant(double alpha) {
    return make_weights(X.view(), {.scheme = Scheme::constant, .alpha = alpha});
  }
};

AsymmetricOptions options_of(Regularizer regularizer, std::int64_t rank, double lambda) {
  AsymmetricOptions options;
  options.regularizer = regularizer;
  options.rank = rank;
  options.lambda = lambda;
  return options;
}

void expect_finite(const LowRankFit& fit) {
  EXPECT_TRUE(std::isfinite(fit.objective));
  EXPECT_TRUE(std::isfinite(fit.certificate.absolute));
  EXPECT_GE(fit.certificate.absolute, 0);
  EXPECT_TRUE(to_eigen(fit.U).allFinite());
  EXPECT_TRUE(to_eigen(fit.V).allFinite());
  EXPECT_LE(fit.objective, fit.observed_weight * (1 + 1e-6));
  for (std::size_t k = 1; k < fit.trace.size(); ++k)
    EXPECT_LE(fit.trace[k].objective, fit.trace[k - 1].objective * (1 + 1e-7)) << "round " << k;
}

TEST(AsymmetricObjective, LikeTheDenseOneForAllWeights) {
  Lab lab;
  for (const Regularizer regularizer : all) {
    for (const unsigned parts : {0U, 1U, 2U, 3U}) {
      const GeneralWeights weights(lab.X.view(), 4, (parts & 1U) != 0, (parts & 2U) != 0);
      const AsymmetricOracle oracle(lab.X.view(), weights.W, regularizer, 2.5);
      const AsymmetricProblem problem =
          make_asymmetric_problem(lab.X.view(), weights.W, regularizer, 2.5, *lab.backend, lab.execution);
      AsymmetricPoint point = lab.point(5, 6);
      complete(problem, point, *lab.backend);
      const double wanted = oracle.objective(to_eigen(point.U.home()), to_eigen(point.V.home()));
      EXPECT_NEAR(asymmetric_objective(problem, point, *lab.backend), wanted, 1e-6 * wanted);

      AsymmetricPoint step = lab.point(7, 8);
      complete(problem, step, *lab.backend);
      const AsymmetricLine line(problem, point, step, *lab.backend);
      for (const double t : {0.0, 0.3, 1.0, -2.0}) {
        const double there = oracle.objective(to_eigen(point.U.home()) + t * to_eigen(step.U.home()),
                                              to_eigen(point.V.home()) + t * to_eigen(step.V.home()));
        EXPECT_NEAR(wanted - line.decrease(t), there, 1e-5 * std::abs(there)) << t;
      }
      const double best = line.best();
      EXPECT_GE(line.decrease(best), 0);
      for (double t = 0; t < 20; t += 0.25)
        EXPECT_GE(line.decrease(best), line.decrease(t) - 1e-9 * wanted) << t;
      AsymmetricPoint moved{point.U.clone(), point.V.clone(), point.Z.clone(), point.Z_gram,
                            point.scores.clone()};
      line.move(0.3, step, moved);
      EXPECT_NEAR(asymmetric_objective(problem, moved, *lab.backend), wanted - line.decrease(0.3),
                  1e-6 * wanted);
    }
  }
}

TEST(AsymmetricObjective, FiniteDifferencesAreTheResidualsOfBothBlocks) {
  Lab lab;
  const GeneralWeights weights(lab.X.view(), 4);
  for (const Regularizer regularizer : all) {
    const AsymmetricOracle oracle(lab.X.view(), weights.W, regularizer, 2.5);
    const MatrixXd U = to_eigen(random_matrix<float>(12, 3, 5));
    const MatrixXd V = to_eigen(random_matrix<float>(12, 3, 6));
    const VectorXd of_U = oracle.rhs_U(V) - oracle.H_U(V) * vec(U);
    const VectorXd of_V = oracle.rhs_V(U) - oracle.H_V(U) * vec(V);
    constexpr double h = 1e-5;
    for (Eigen::Index k = 0; k < U.size(); ++k) {
      MatrixXd plus = U;
      MatrixXd minus = U;
      plus.data()[k] += h;
      minus.data()[k] -= h;
      const double slope_U = (oracle.objective(plus, V) - oracle.objective(minus, V)) / (2 * h);
      EXPECT_NEAR(slope_U, -2 * of_U(k), 1e-5 * of_U.cwiseAbs().maxCoeff());
      plus = minus = V;
      plus.data()[k] += h;
      minus.data()[k] -= h;
      const double slope_V = (oracle.objective(U, plus) - oracle.objective(U, minus)) / (2 * h);
      EXPECT_NEAR(slope_V, -2 * of_V(k), 1e-5 * of_V.cwiseAbs().maxCoeff());
    }
  }
}

using testing::There;

TEST(AsymmetricGauge, BalancingKeepsTheProductAndLowersThePenalty) {
  Lab lab;
  const Matrix<float> U = random_matrix<float>(12, 4, 5);
  Matrix<float> V = random_matrix<float>(12, 4, 6);
  for (std::int64_t i = 0; i < 12; ++i) V(i, 0) *= 30;
  for (const bool data_metric : {false, true}) {
    Matrix<float> root = U;
    if (data_metric) {
      root = Matrix<float>(lab.X.rows, 4);
      lab.backend->spmm(lab.X.view(), Lent(*lab.backend, U).view(), There(*lab.backend, root));
    }
    const Gauge gauge = balancing_gauge(lab.roots(root), lab.gram(V), 1, *lab.backend);
    ASSERT_EQ(gauge.T.cols(), 4);
    const MatrixXd new_root =
        to_eigen(changed(Lent(*lab.backend, root).view(), gauge.T, *lab.backend).home());
    const MatrixXd new_V = to_eigen(changed(Lent(*lab.backend, V).view(), gauge.T_dual, *lab.backend).home());
    const MatrixXd before = to_eigen(root) * to_eigen(V).transpose();
    EXPECT_LE((new_root * new_V.transpose() - before).norm(), 1e-5 * before.norm());
    EXPECT_LT(new_root.squaredNorm() + new_V.squaredNorm(),
              0.9 * (to_eigen(root).squaredNorm() + to_eigen(V).squaredNorm()));
    EXPECT_LE((new_root.transpose() * new_root - new_V.transpose() * new_V).norm(), 1e-5 * before.norm());
  }
  // A direction that is not there is dropped.
  for (std::int64_t i = 0; i < 12; ++i) V(i, 3) = 0;
  EXPECT_EQ(balancing_gauge(lab.roots(U), lab.gram(V), 1, *lab.backend).T.cols(), 3);
}

TEST(AsymmetricGauge, TheNearestRotationByProductsIsThatByDecomposition) {
  const auto backend = testing::tested_backend(2);
  const auto host = make_backend(BackendKind::cpu, 2);
  for (const std::int64_t d : {1, 5, 40}) {
    Matrix<double> A(d, d);
    const Matrix<double> random = random_matrix<double>(d, d, 3);
    for (std::int64_t i = 0; i < d; ++i) {
      for (std::int64_t j = 0; j < d; ++j)
        A(i, j) = (i == j ? 2.0 : 0.0) + random(i, j) * std::pow(0.5, static_cast<double>(j));
    }
    const Matrix<double> wanted = nearest_rotation(A, *host);
    Matrix<double> got = A;
    ASSERT_TRUE(rotate_by_newton(got, *backend));
    for (std::int64_t i = 0; i < d; ++i) {
      for (std::int64_t j = 0; j < d; ++j) EXPECT_NEAR(got(i, j), wanted(i, j), 1e-11) << d;
    }
  }
  Matrix<double> singular(3, 3);
  singular(0, 0) = singular(1, 1) = 1;
  EXPECT_FALSE(rotate_by_newton(singular, *backend));
  EXPECT_EQ(singular(0, 0), 1);
}

TEST(AsymmetricSteps, NoHalfStepRaisesTheObjective) {
  Lab lab;
  const GeneralWeights weights(lab.X.view(), 4);
  for (const Regularizer regularizer : all) {
    const AsymmetricProblem problem =
        make_asymmetric_problem(lab.X.view(), weights.W, regularizer, 2.5, *lab.backend, lab.execution);
    const LeftFactor left = make_left_factor(lab.X.view(), weights.W, regularizer, 2.5, {}, 1U << 30U,
                                             *lab.backend, lab.execution);
    AsymmetricPoint point = lab.point(5, 6);
    complete(problem, point, *lab.backend);
    double before = asymmetric_objective(problem, point, *lab.backend);
    for (int step = 0; step < 8; ++step) {
      if (step % 2 == 0) {
        solve_V(problem, point, 1e-8, *lab.backend);
      } else {
        solve_U(problem, left, point, 1e-6, *lab.backend, nullptr);
      }
      complete(problem, point, *lab.backend);
      const double after = asymmetric_objective(problem, point, *lab.backend);
      EXPECT_LE(after, before * (1 + 1e-6)) << regularizer_name(regularizer) << ", step " << step;
      before = after;
    }
  }
}

TEST(AsymmetricFit, UnweightedIsTheClosedForm) {
  Lab lab;
  const Weights W = lab.constant(1);
  for (const Regularizer regularizer : all) {
    for (const double lambda : {0.0, 1e-8, 1.5}) {
      const LowRankFit fit = lab.fit(W, options_of(regularizer, 4, lambda));
      const AsymmetricOracle oracle(lab.X.view(), W, regularizer, lambda);
      const double wanted = oracle.objective(to_eigen(fit.U), to_eigen(fit.V));
      EXPECT_NEAR(fit.objective, wanted, 1e-6 * wanted);
      EXPECT_EQ(fit.rounds, 0);
      EXPECT_TRUE(fit.converged);
      // The bound takes what rounding left at lambda itself.
      EXPECT_LE(fit.certificate.relative, lambda == 1e-8 ? 1e-6 : 1e-9) << regularizer_name(regularizer);
      EXPECT_GE(fit.certificate.absolute * (1 + 1e-3) + 1e-12 * wanted,
                std::max(oracle.U_gain(to_eigen(fit.U), to_eigen(fit.V)),
                         oracle.V_gain(to_eigen(fit.U), to_eigen(fit.V))));
    }
  }
}

TEST(AsymmetricFit, ARandomStartFindsTheClosedFormWhereWeightsAreAlmostOne) {
  Lab lab;
  Weights W = lab.constant(1.0000002);  // not uniform, so that rounds are made
  ASSERT_FALSE(W.uniform());
  for (const Regularizer regularizer : all) {
    AsymmetricOptions options = options_of(regularizer, 3, 1.5);
    options.start = Start::random;
    options.seed = 3;
    const LowRankFit found = lab.fit(W, options);
    const LowRankFit wanted = lab.fit(lab.constant(1), options);
    EXPECT_GT(found.rounds, 0);
    EXPECT_NEAR(found.objective, wanted.objective, 1e-5 * wanted.objective) << regularizer_name(regularizer);
    expect_finite(found);
  }
}

TEST(AsymmetricFit, CertificateIsNeverBelowWhatReSolvingABlockGains) {
  Lab lab;
  for (const Regularizer regularizer : all) {
    for (const unsigned parts : {0U, 1U, 2U, 3U}) {
      const GeneralWeights weights(lab.X.view(), 4, (parts & 1U) != 0, (parts & 2U) != 0);
      AsymmetricOptions options = options_of(regularizer, 3, 1.5);
      for (const int rounds : {1, 3, 100}) {
        options.rounds = rounds;
        const LowRankFit fit = lab.fit(weights.W, options);
        expect_finite(fit);
        const AsymmetricOracle oracle(lab.X.view(), weights.W, regularizer, 1.5);
        const MatrixXd U = to_eigen(fit.U);
        const MatrixXd V = to_eigen(fit.V);
        EXPECT_NEAR(fit.objective, oracle.objective(U, V), 1e-6 * fit.objective);
        const double gain = std::max(oracle.U_gain(U, V), oracle.V_gain(U, V));
        EXPECT_GE(fit.certificate.absolute, gain * (1 - 1e-3) - 1e-9 * fit.objective)
            << regularizer_name(regularizer) << ", weights " << parts << ", rounds " << rounds;
        if (rounds == 100) {
          EXPECT_TRUE(fit.converged);
          EXPECT_LE(fit.certificate.relative, 1e-4);
        }
      }
    }
  }
}

TEST(AsymmetricFit, RoundsGoOnWhereObjectivesCanNoLongerBeToldApart) {
  Lab lab;
  const GeneralWeights weights(lab.X.view(), 4, true, true);
  for (const Regularizer regularizer : all) {
    AsymmetricOptions options = options_of(regularizer, 3, 1.5);
    options.tolerance = 1e-13;
    options.least_decrease = 1e-14;
    options.rounds = 2000;
    const LowRankFit fit = lab.fit(weights.W, options);
    EXPECT_TRUE(fit.converged) << regularizer_name(regularizer);
    const AsymmetricOracle oracle(lab.X.view(), weights.W, regularizer, 1.5);
    const MatrixXd U = to_eigen(fit.U);
    const MatrixXd V = to_eigen(fit.V);
    EXPECT_LE(std::max(oracle.U_gain(U, V), oracle.V_gain(U, V)), 5e-10 * fit.objective)
        << regularizer_name(regularizer);
  }
}

TEST(AsymmetricFit, RanksAtTheEdges) {
  Lab lab;
  const Weights W = lab.constant(5);
  for (const Regularizer regularizer : all) {
    for (const std::int64_t rank : {1, 12, 20}) {
      const LowRankFit fit = lab.fit(W, options_of(regularizer, rank, 0.5));
      expect_finite(fit);
      EXPECT_EQ(fit.U.cols(), rank);
      EXPECT_LE(fit.live_directions, std::min<std::int64_t>(rank, 12));
      for (std::int64_t k = fit.live_directions; k < rank; ++k) {
        for (std::int64_t i = 0; i < 12; ++i) {
          ASSERT_EQ(fit.U(i, k), 0);
          ASSERT_EQ(fit.V(i, k), 0);
        }
      }
    }
  }
}

TEST(AsymmetricFit, SparseUsersAndItemsDuplicatesAndFewerUsersThanItems) {
  Lab lab;
  // Items 0 and 1 the same, item 2 with one user, item 3 with none, a user with one item, one with none.
  lab.X = {.rows = 6,
           .cols = 9,
           .offsets = {0, 4, 8, 9, 9, 13, 17},
           .indices = {0, 1, 4, 5, 0, 1, 6, 7, 4, 2, 4, 6, 8, 0, 1, 5, 8},
           .values = {}};
  for (const Regularizer regularizer : all) {
    for (const double lambda : {0.0, 1e-8, 0.1}) {
      for (const double alpha : {0.3, 5.0}) {
        SCOPED_TRACE(::testing::Message()
                     << regularizer_name(regularizer) << ", lambda " << lambda << ", alpha " << alpha);
        const Weights W = lab.constant(alpha);
        const LowRankFit fit = lab.fit(W, options_of(regularizer, 4, lambda));
        expect_finite(fit);
        if (regularizer == Regularizer::data_weight_decay || lambda == 0) {
          // U stays in the range: equal rows for equal items, nothing for the item without users.
          for (std::int64_t k = 0; k < 4; ++k) {
            EXPECT_NEAR(fit.U(0, k), fit.U(1, k), 1e-4);
            EXPECT_NEAR(fit.U(3, k), 0, 1e-4);
          }
        }
      }
    }
  }
}

TEST(AsymmetricFit, LambdaThatLeavesNothing) {
  Lab lab;
  for (const Regularizer regularizer : {Regularizer::weight_decay, Regularizer::data_weight_decay}) {
    for (const double alpha : {1.0, 5.0}) {
      const LowRankFit fit = lab.fit(lab.constant(alpha), options_of(regularizer, 4, 1e6));
      EXPECT_EQ(fit.live_directions, 0);
      EXPECT_EQ(to_eigen(fit.U).norm(), 0);
      EXPECT_EQ(to_eigen(fit.V).norm(), 0);
      EXPECT_NEAR(fit.objective, fit.observed_weight, 1e-6 * fit.observed_weight);
      EXPECT_EQ(fit.certificate.absolute, 0);
    }
  }
  expect_finite(lab.fit(lab.constant(5), options_of(Regularizer::dropout, 4, 1e9)));
}

TEST(AsymmetricFit, WeightsReviveWhatLambdaKillsUnweighted) {
  Lab lab;
  const Spectrum top = top_spectrum(lab.X.view(), {}, 4, *lab.backend, lab.execution);
  const double lambda = 1.5 * top.s[3];  // above s_d
  EXPECT_LT(lab.fit(lab.constant(1), options_of(Regularizer::weight_decay, 4, lambda)).live_directions, 4);
  const LowRankFit fit = lab.fit(lab.constant(20), options_of(Regularizer::weight_decay, 4, lambda));
  expect_finite(fit);
  EXPECT_EQ(fit.live_directions, 4);
}

TEST(AsymmetricFit, ExtremeWeights) {
  Lab lab;
  for (const Regularizer regularizer : all) {
    for (const double alpha : {0.01, 1000.0}) {
      const LowRankFit fit = lab.fit(lab.constant(alpha), options_of(regularizer, 3, 1.5));
      expect_finite(fit);
      EXPECT_LE(fit.certificate.relative, 1e-3) << regularizer_name(regularizer) << ", alpha " << alpha;
    }
  }
}

TEST(AsymmetricFit, TheSameBytesWhateverTheThreads) {
  const Csr X = random_csr(700, 150, 0.1, false, 9);
  for (const Regularizer regularizer : all) {
    std::vector<LowRankFit> fits;
    for (const int threads : {1, 2, 3}) {
      const auto backend = testing::tested_backend(threads);
      const Execution execution{.threads = threads};
      const GeneralWeights weights(X.view(), 4);
      AsymmetricOptions options = options_of(regularizer, 20, 3);
      options.rounds = 4;
      const Spectrum top = top_spectrum(X.view(), {}, 20, *backend, execution);
      fits.push_back(fit_asymmetric(X.view(), weights.W, options, top, *backend, execution));
    }
    for (const LowRankFit& fit : fits) {
      EXPECT_EQ(fit.objective, fits[0].objective);
      EXPECT_EQ(fit.certificate.absolute, fits[0].certificate.absolute);
      EXPECT_EQ(to_eigen(fit.U), to_eigen(fits[0].U));
      EXPECT_EQ(to_eigen(fit.V), to_eigen(fits[0].V));
    }
  }
}

TEST(AsymmetricFit, RefusesWhatDoesNotFitAndWhatMakesNoSense) {
  Lab lab;
  AsymmetricOptions options = options_of(Regularizer::weight_decay, 3, 1);
  options.memory_limit = 1000;
  EXPECT_THROW(lab.fit(lab.constant(2), options), Error);
  EXPECT_THROW(validate(options_of(Regularizer::weight_decay, 0, 1)), Error);
  EXPECT_THROW(validate(options_of(Regularizer::weight_decay, 3, -1)), Error);
  EXPECT_THROW(validate(options_of(Regularizer::weight_decay, 3, std::nan(""))), Error);
}

}  // namespace
}  // namespace poise
