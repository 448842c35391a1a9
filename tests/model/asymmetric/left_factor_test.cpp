#include "poise/model/asymmetric/left_factor.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "poise/model/asymmetric/fit.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/asymmetric_oracle.hpp"
#include "support/dense_oracle.hpp"
#include "support/low_rank_data.hpp"
#include "support/random_data.hpp"
#include "support/tested_backend.hpp"

namespace poise {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::AsymmetricOracle;
using testing::to_eigen;
using testing::vec;

constexpr std::int64_t users = 400;
constexpr std::int32_t items = 520;

/// Groups of equally many users and items, so that as many eigenvalues of X'X are almost equal: k s_k is
/// almost the trace for all k up to `groups`, and s_{k+1} is as large as s_k.
Csr flat_spectrum(std::int64_t groups) {
  std::mt19937 random(3);
  Csr X{.rows = users, .cols = items, .offsets = {0}};
  for (std::int64_t u = 0; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      if (i % groups == u % groups && random() % 100 < 95) X.indices.push_back(i);
    }
    X.offsets.push_back(X.entries());
  }
  return X;
}

/// Few items that everybody has: one eigenvalue is most of the trace.
Csr steep_spectrum() {
  std::mt19937 random(4);
  Csr X{.rows = users, .cols = items, .offsets = {0}};
  for (std::int64_t u = 0; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      if (static_cast<double>(random() % 1000) < 900 / std::sqrt(1.0 + i)) X.indices.push_back(i);
    }
    X.offsets.push_back(X.entries());
  }
  return X;
}

/// The oracle's H_U, user by user: sum_u (V' diag(w_u) V) (x) x_u x_u' + R. What it takes grows with the
/// entries and not with users x items x d.
MatrixXd H_U_by_users(const AsymmetricOracle& oracle, const MatrixXd& V) {
  const Eigen::Index n = oracle.X.cols();
  const Eigen::Index d = V.cols();
  MatrixXd H = MatrixXd::Zero(n * d, n * d);
  for (Eigen::Index u = 0; u < oracle.X.rows(); ++u) {
    const MatrixXd S = V.transpose() * oracle.W.row(u).transpose().asDiagonal() * V;
    std::vector<Eigen::Index> own;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (oracle.X(u, i) != 0) own.push_back(i);
    }
    for (Eigen::Index j = 0; j < d; ++j) {
      for (Eigen::Index k = 0; k < d; ++k) {
        for (const Eigen::Index a : own) {
          for (const Eigen::Index b : own) H(j * n + a, k * n + b) += S(j, k);
        }
      }
    }
  }
  const MatrixXd R = oracle.regularizer == Regularizer::dropout ? MatrixXd(V.transpose() * V)
                                                                : MatrixXd(MatrixXd::Identity(d, d));
  return H + oracle.lambda * testing::kronecker(R, MatrixXd::Identity(n, n));
}

double U_gain(const AsymmetricOracle& oracle, const MatrixXd& U, const MatrixXd& V) {
  const MatrixXd H = H_U_by_users(oracle, V);
  const VectorXd rho = oracle.rhs_U(V) - H * vec(U);
  return rho.dot(H.llt().solve(rho));
}

/// Item by item, as V's rows are independent.
double V_gain(const AsymmetricOracle& oracle, const MatrixXd& U, const MatrixXd& V) {
  const MatrixXd Z = oracle.X * U;
  const MatrixXd R = oracle.regularizer == Regularizer::dropout
                         ? MatrixXd(U.transpose() * U)
                         : MatrixXd(MatrixXd::Identity(U.cols(), U.cols()));
  double gain = 0;
  for (Eigen::Index i = 0; i < V.rows(); ++i) {
    const auto w = oracle.W.col(i);
    const MatrixXd H = Z.transpose() * w.asDiagonal() * Z + oracle.lambda * R;
    const VectorXd rho = Z.transpose() * w.cwiseProduct(oracle.X.col(i)) - H * V.row(i).transpose();
    gain += rho.dot(H.llt().solve(rho));
  }
  return gain;
}

TEST(LeftFactor, TheOracleByUsersAndItemsIsTheOracle) {
  const Csr X = testing::grouped_matrix(30, 12, 5);
  const testing::GeneralWeights weights(X.view(), 4);
  const MatrixXd U = to_eigen(testing::random_matrix<float>(12, 2, 5));
  const MatrixXd V = to_eigen(testing::random_matrix<float>(12, 2, 6));
  for (const Regularizer regularizer : {Regularizer::weight_decay, Regularizer::dropout}) {
    const AsymmetricOracle oracle(X.view(), weights.W, regularizer, 2.5);
    EXPECT_LE((H_U_by_users(oracle, V) - oracle.H_U(V)).norm(), 1e-10 * oracle.H_U(V).norm());
    EXPECT_NEAR(U_gain(oracle, U, V), oracle.U_gain(U, V), 1e-8 * oracle.U_gain(U, V));
    EXPECT_NEAR(V_gain(oracle, U, V), oracle.V_gain(U, V), 1e-8 * oracle.V_gain(U, V));
  }
}

AsymmetricOptions rank_8(Regularizer regularizer) {
  AsymmetricOptions options;
  options.regularizer = regularizer;
  options.rank = 8;
  options.lambda = 40;
  return options;
}

TEST(LeftFactor, SaysTheMemoryOfTheRouteItTakes) {
  const Csr X = testing::grouped_matrix(60, 23, 5);
  const Weights W = make_weights(X.view(), {.alpha = 3});
  constexpr std::uint64_t square = 23 * 23;
  constexpr std::uint64_t pairs = 4 * 23 * 4;  // bytes of four top ones
  const auto backend = testing::tested_backend(1);
  const Spectrum spectrum = top_spectrum(X.view(), {}, 4, *backend, {});
  struct Case {
    Regularizer regularizer;
    std::uint64_t limit;
    std::uint64_t wanted;
  };
  for (const auto& [regularizer, limit, wanted] :
       {Case{Regularizer::weight_decay, 24 * square, 24 * square},
        Case{Regularizer::weight_decay, 24 * square - 1, 4 * square},
        Case{Regularizer::dropout, 24 * square, 4 * square},
        Case{Regularizer::dropout, 4 * square - 1, pairs}}) {
    EXPECT_EQ(left_factor_cost(X.view(), W, regularizer, 20, 4, limit).bytes, wanted);
    const LeftFactor left = make_left_factor(X.view(), W, regularizer, 20, spectrum, limit, *backend, {});
    EXPECT_EQ(left.inverse.rows() > 0, wanted == 4 * square);
    EXPECT_EQ(left.Q.cols(), wanted == 24 * square ? 23 : wanted == pairs ? 4 : 0);
  }
  const Regularizer no_eigenpairs = Regularizer::data_weight_decay;
  EXPECT_EQ(left_factor_cost(X.view(), W, no_eigenpairs, 20, 4, 4 * square - 1).bytes, 8 * square);
  EXPECT_THROW(make_left_factor(X.view(), W, no_eigenpairs, 20, spectrum, 4 * square - 1, *backend, {}),
               Error);
}

TEST(LeftFactor, FewPairsReplaceItemsTimesItemsWhereTheyAreFewerOperations) {
  constexpr std::uint64_t n = 600;
  const Csr X = testing::grouped_matrix(500, n, 5);
  const auto backend = testing::tested_backend(1);
  const Spectrum few = top_spectrum(X.view(), {}, 24, *backend, {});
  const Spectrum many = top_spectrum(X.view(), {}, 300, *backend, {});
  const Weights constant = make_weights(X.view(), {.alpha = 3});
  const Weights by_user = make_weights(X.view(), {.scheme = Scheme::user_oriented, .alpha = 3, .clip = 2});
  ASSERT_FALSE(by_user.a.empty());
  for (const Regularizer regularizer : {Regularizer::weight_decay, Regularizer::dropout}) {
    for (const Weights& W : {std::cref(constant), std::cref(by_user)}) {
      SCOPED_TRACE(regularizer_name(regularizer));
      EXPECT_EQ(left_factor_cost(X.view(), W, regularizer, 40, 24, 1U << 30U).bytes, 4 * n * 24);
      EXPECT_GE(left_factor_cost(X.view(), W, regularizer, 40, 300, 1U << 30U).bytes, 4 * n * n);
      // Almost without regularization U would take too many iterations with few pairs.
      EXPECT_GE(left_factor_cost(X.view(), W, regularizer, 1e-3, 24, 1U << 30U).bytes, 4 * n * n);
      const LowRankFit by_pairs = fit_asymmetric(X.view(), W, rank_8(regularizer), few, *backend, {});
      const LowRankFit by_all = fit_asymmetric(X.view(), W, rank_8(regularizer), many, *backend, {});
      EXPECT_LE(by_pairs.certificate.relative, 1e-5);
      EXPECT_LE(by_all.certificate.relative, 1e-5);
      EXPECT_NEAR(by_pairs.objective, by_all.objective, 1e-3 * by_all.objective);
    }
  }
}

TEST(LeftFactor, ThePairsOfOneLambdaServeAllOthersButZero) {
  const Csr X = testing::grouped_matrix(500, 600, 5);
  const auto backend = testing::tested_backend(1);
  const Spectrum few = top_spectrum(X.view(), {}, 24, *backend, {});
  const Weights W = make_weights(X.view(), {.alpha = 3});
  LeftFactorCache cache;
  const auto get = [&](double lambda) -> const LeftFactor& {
    return cache.get(X.view(), W, Regularizer::dropout, lambda, few, 1U << 30U, *backend, {});
  };
  const float* const first = get(20).Q.view().data;
  EXPECT_EQ(get(50).Q.view().data, first);
  const LeftFactor& without = get(0);
  EXPECT_TRUE(without.has_inverse() || without.complete);
}

/// A problem near the border up to which few pairs serve, the root of the condition that is left with them,
/// sqrt(1 + trace / (4 k lambda)) sqrt(largest / smallest weight).
struct Border {
  Regularizer regularizer;
  double root;
  double alpha;
  std::int64_t pairs;

  /// For which the root is `share` of that of the border.
  [[nodiscard]] double lambda(const Csr& X, double share) const {
    const double growth = root * share / std::sqrt(alpha);
    return static_cast<double>(X.entries()) / (4 * static_cast<double>(pairs) * (growth * growth - 1));
  }
};

const Border borders[] = {{Regularizer::weight_decay, 12, 4, 20},
                          {Regularizer::weight_decay, 12, 64, 20},
                          {Regularizer::dropout, 30, 4, 8},
                          {Regularizer::dropout, 30, 36, 20}};

/// Eigenvalue k of X'X over its estimate, a quarter of trace / k.
double over_estimate(const Csr& X, std::int64_t k) {
  const MatrixXd dense = testing::to_dense(X.view());
  const MatrixXd gram = dense * dense.transpose();
  const VectorXd s = Eigen::SelfAdjointEigenSolver<MatrixXd>(gram, Eigen::EigenvaluesOnly).eigenvalues();
  return s(s.size() - k) * 4 * static_cast<double>(k) / static_cast<double>(X.entries());
}

TEST(LeftFactor, FewPairsServeUpToTheBorder) {
  const Csr X = steep_spectrum();
  for (const Border& border : borders) {
    const Weights W = make_weights(X.view(), {.scheme = Scheme::constant, .alpha = border.alpha});
    const auto bytes = [&](double share) {
      return left_factor_cost(X.view(), W, border.regularizer, border.lambda(X, share), border.pairs,
                              1U << 30U)
          .bytes;
    };
    EXPECT_EQ(bytes(0.9999), 4 * static_cast<std::uint64_t>(items * border.pairs));
    EXPECT_GE(bytes(1.0001), 4 * static_cast<std::uint64_t>(items) * items);
  }
}

/// Whether the estimate of eigenvalue k, and so of the condition, is four times too low or too high.
TEST(LeftFactor, FewPairsCertifyTightlyAtTheBorder) {
  const auto backend = testing::tested_backend(2);
  for (const Border& border : borders) {
    const Csr flat = flat_spectrum(border.pairs + 1);
    const Csr steep = steep_spectrum();
    EXPECT_GE(over_estimate(flat, border.pairs), 3);
    EXPECT_LE(over_estimate(steep, border.pairs), 0.6);
    for (const Csr* const X : {&flat, &steep}) {
      SCOPED_TRACE(::testing::Message() << regularizer_name(border.regularizer) << ", weights to "
                                        << border.alpha << (X == &flat ? ", flat" : ", steep"));
      const Weights W = make_weights(X->view(), {.scheme = Scheme::constant, .alpha = border.alpha});
      AsymmetricOptions options;
      options.regularizer = border.regularizer;
      options.rank = 2;
      options.lambda = border.lambda(*X, 0.9999);
      options.least_decrease = 1e-7;
      const Spectrum pairs = top_spectrum(X->view(), {}, border.pairs, *backend, {.threads = 2});
      const LowRankFit fit = fit_asymmetric(X->view(), W, options, pairs, *backend, {.threads = 2});
      EXPECT_LE(fit.certificate.relative, 1e-5);

      const AsymmetricOracle oracle(X->view(), W, border.regularizer, options.lambda);
      const MatrixXd U = to_eigen(fit.U);
      const MatrixXd V = to_eigen(fit.V);
      const double truth = std::max(U_gain(oracle, U, V), V_gain(oracle, U, V));
      EXPECT_GE(fit.certificate.absolute, truth * (1 - 1e-3));
      EXPECT_LE(fit.certificate.absolute, 10 * truth + 1e-9 * W.observed);
    }
  }
}

}  // namespace
}  // namespace poise
