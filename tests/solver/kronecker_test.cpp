#include "poise/solver/kronecker.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "poise/model/asymmetric/gauge.hpp"
#include "poise/model/asymmetric/left_factor.hpp"
#include "poise/model/asymmetric/steps.hpp"
#include "poise/solver/kronecker_bound.hpp"

#include "support/asymmetric_oracle.hpp"
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

constexpr std::int64_t users = 40;
constexpr std::int64_t items = 9;
constexpr std::int64_t rank = 3;

/// Row-major n x d of a vectorized (column after column) one.
Matrix<float> row_major(const VectorXd& columns) {
  Matrix<float> result(items, rank);
  for (std::int64_t i = 0; i < items; ++i) {
    for (std::int64_t j = 0; j < rank; ++j) result(i, j) = static_cast<float>(columns(j * items + i));
  }
  return result;
}

/// All of it as one row, where the backend computes.
testing::There<float> as_row(Matrix<float>& matrix, Backend& backend) {
  const std::int64_t size = matrix.rows() * matrix.cols();
  return {backend, MatrixView<float>{matrix.view().data, 1, size, size}};
}

/// A problem with general weights and a V in the basis of the U step.
struct Case {
  Execution execution = {.threads = 2};
  std::unique_ptr<Backend> backend = testing::tested_backend(2);
  Csr X = random_csr(users, items, 0.35, false, 3);
  GeneralWeights weights;
  AsymmetricProblem problem;
  AsymmetricOracle oracle;
  Gauge gauge;
  Resident<float> V;
  UProblem system;

  Case(Regularizer regularizer, double lambda, bool with_a, bool with_b)
      : weights(X.view(), 5, with_a, with_b),
        problem(make_asymmetric_problem(X.view(), weights.W, regularizer, lambda, *backend, execution)),
        oracle(X.view(), weights.W, regularizer, lambda),
        V(*backend, random_matrix<float>(items, rank, 7)) {
    gauge = u_step_gauge(problem, V.view(), *backend);
    V = changed(V.view(), gauge.T_dual, *backend);
    system = {.X = problem.X,
              .X_transposed = problem.X_transposed(),
              .entries = &problem.users,
              .a = weights.W.a,
              .V = V.view(),
              .nu = gauge.values,
              .lambda = lambda,
              .data_metric = problem.data_metric()};
  }

  /// The matrix of a linear map on n x d blocks, in the order of vectorized ones.
  template <class Apply>
  MatrixXd matrix_of(const Apply& apply) const {
    MatrixXd result(items * rank, items * rank);
    for (Eigen::Index k = 0; k < result.cols(); ++k) {
      Matrix<float> p = row_major(VectorXd::Unit(result.cols(), k));
      Matrix<float> out(items, rank, 77);
      apply(as_row(p, *backend), as_row(out, *backend));
      result.col(k) = vec(to_eigen(out));
    }
    return result;
  }

  MatrixXd H() {
    KroneckerSystem system_matrix(system, *backend);
    return matrix_of([&](In<float> p, Out<float> out) { system_matrix.apply({{}, p}, out); });
  }
  MatrixXd M_inverse(const LeftFactor& left) {
    KroneckerPreconditioner preconditioner(system, left, *backend);
    return matrix_of([&](In<float> r, Out<float> z) { preconditioner.apply({{}, r}, z); });
  }
  LeftFactor left_factor(std::uint64_t bytes) {
    const Spectrum top = top_spectrum(X.view(), {}, 4, *backend, execution);
    return make_left_factor(X.view(), weights.W, problem.regularizer, problem.lambda, top, bytes, *backend,
                            execution);
  }
};

void expect_close(const MatrixXd& got, const MatrixXd& wanted, double relative) {
  EXPECT_LE((got - wanted).cwiseAbs().maxCoeff(), relative * wanted.cwiseAbs().maxCoeff());
}

void check_system(Regularizer regularizer, double lambda) {
  for (const bool general : {false, true}) {
    Case test(regularizer, lambda, general, general);
    expect_close(test.H(), test.oracle.H_U(to_eigen(test.V.home())), 1e-6);
  }
}

TEST(KroneckerSystem, Equation9UnregularizedU) { check_system(Regularizer::weight_decay, 0); }
TEST(KroneckerSystem, Equation12DropoutU) { check_system(Regularizer::dropout, 3); }
TEST(KroneckerSystem, Equation13WeightDecayU) { check_system(Regularizer::weight_decay, 3); }
TEST(KroneckerSystem, DataWeightDecayU) { check_system(Regularizer::data_weight_decay, 3); }

TEST(KroneckerSystem, Equation5IsTheOperatorOnAnyBlock) {
  Case test(Regularizer::weight_decay, 0, true, true);
  KroneckerSystem H(test.system, *test.backend);
  Matrix<float> P = random_matrix<float>(items, rank, 8);
  Matrix<float> out(items, rank);
  H.apply({{}, as_row(P, *test.backend)}, as_row(out, *test.backend));
  const MatrixXd V = to_eigen(test.V.home());
  const MatrixXd inside = test.oracle.W.cwiseProduct(test.oracle.X * to_eigen(P) * V.transpose());
  expect_close(to_eigen(out), test.oracle.X.transpose() * inside * V, 1e-6);
}

TEST(KroneckerSystem, ResidualIsTheRightHandSideLessH) {
  for (const Regularizer regularizer :
       {Regularizer::weight_decay, Regularizer::dropout, Regularizer::data_weight_decay}) {
    Case test(regularizer, 3, true, true);
    const Matrix<float> U = random_matrix<float>(items, rank, 9);
    Matrix<float> r(items, rank);
    KroneckerSystem(test.system, *test.backend)
        .residual(Lent(*test.backend, U).view(), testing::There(*test.backend, r));
    const MatrixXd V = to_eigen(test.V.home());
    expect_close(vec(to_eigen(r)), test.oracle.rhs_U(V) - test.oracle.H_U(V) * vec(to_eigen(U)), 1e-6);
  }
}

TEST(KroneckerSystem, SelfAdjointAndPositiveDefinite) {
  for (const Regularizer regularizer :
       {Regularizer::weight_decay, Regularizer::dropout, Regularizer::data_weight_decay}) {
    const MatrixXd H = Case(regularizer, 3, true, true).H();
    expect_close(H, H.transpose(), 1e-6);
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatrixXd>(H).eigenvalues().minCoeff(), 0);
  }
}

/// Eigenvalues of M^-1 H.
VectorXd preconditioned(Case& test, const LeftFactor& left) {
  const MatrixXd M_inverse = test.M_inverse(left);
  expect_close(M_inverse, M_inverse.transpose(), 1e-5);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> roots((M_inverse + M_inverse.transpose()) / 2);
  EXPECT_GT(roots.eigenvalues().minCoeff(), 0);
  const MatrixXd root = roots.operatorSqrt();
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(root * test.oracle.H_U(to_eigen(test.V.home())) * root)
      .eigenvalues();
}

struct Weighted {
  bool a;
  bool b;
};

void check_bounds(Regularizer regularizer, Weighted weighted, bool exact, std::uint64_t bytes) {
  for (const double lambda : {0.5, 20.0}) {
    SCOPED_TRACE(::testing::Message() << regularizer_name(regularizer) << ", a " << weighted.a << ", b "
                                      << weighted.b << ", lambda " << lambda << ", bytes " << bytes);
    Case test(regularizer, lambda, weighted.a, weighted.b);
    const VectorXd values = preconditioned(test, test.left_factor(bytes));
    EXPECT_GE(values.minCoeff(), test.weights.W.lowest * (1 - 1e-4));
    const double highest = exact ? test.weights.W.highest : HUGE_VAL;
    EXPECT_LE(values.maxCoeff(), highest * (1 + 1e-4));
  }
}

constexpr std::uint64_t plenty = 1U << 30U;
constexpr std::uint64_t one_inverse = 20 * items * items;  // not all eigenpairs
constexpr std::uint64_t too_little = items * items;

TEST(KroneckerPreconditioner, EigenvaluesBetweenTheLowestAndTheHighestWeight) {
  for (const Regularizer regularizer :
       {Regularizer::weight_decay, Regularizer::dropout, Regularizer::data_weight_decay}) {
    for (const Weighted weighted : {Weighted{false, false}, {true, false}, {false, true}, {true, true}})
      check_bounds(regularizer, weighted, true, plenty);
  }
}

TEST(KroneckerPreconditioner, OneInverseIsExactWhereTheSystemIsAProduct) {
  check_bounds(Regularizer::dropout, {false, false}, true, one_inverse);
  check_bounds(Regularizer::dropout, {true, false}, true, one_inverse);
  check_bounds(Regularizer::data_weight_decay, {false, false}, true, one_inverse);
  check_bounds(Regularizer::data_weight_decay, {false, true}, true, one_inverse);
}

TEST(KroneckerPreconditioner, OneInverseLiesBelowWhereItIsNot) {
  check_bounds(Regularizer::weight_decay, {true, true}, false, one_inverse);
  check_bounds(Regularizer::dropout, {true, true}, false, one_inverse);
  check_bounds(Regularizer::data_weight_decay, {true, true}, false, one_inverse);
}

TEST(KroneckerPreconditioner, TopPairsLieBelow) {
  check_bounds(Regularizer::weight_decay, {false, true}, false, too_little);
  check_bounds(Regularizer::weight_decay, {true, true}, false, too_little);
  check_bounds(Regularizer::dropout, {true, true}, false, too_little);
  Case test(Regularizer::data_weight_decay, 1, false, false);
  EXPECT_THROW(test.left_factor(too_little), Error);
}

TEST(KroneckerPreconditioner, AnIllConditionedInverseIsHeldInFloat64) {
  Case test(Regularizer::dropout, 1e-4, false, false);
  Case mild_test(Regularizer::dropout, 1, false, false);
  const LeftFactor mild = mild_test.left_factor(plenty);
  EXPECT_EQ(mild.inverse.rows(), items);
  EXPECT_EQ(mild.inverse64.rows(), 0);
  // Two items with the same users: only lambda keeps G from being singular.
  Csr& X = test.X;
  Csr twins{.rows = users, .cols = items, .offsets = {0}};
  for (std::int64_t u = 0; u < users; ++u) {
    for (const std::int32_t i : X.view().row(u)) {
      if (i >= 2) continue;
      twins.indices.push_back(0);
      twins.indices.push_back(1);
      break;
    }
    for (const std::int32_t i : X.view().row(u)) {
      if (i >= 2) twins.indices.push_back(i);
    }
    twins.offsets.push_back(twins.entries());
  }
  const Weights unweighted;
  const LeftFactor hard = make_left_factor(twins.view(), unweighted, Regularizer::dropout, 1e-6, {}, plenty,
                                           *test.backend, test.execution);
  EXPECT_EQ(hard.inverse64.rows(), items);
  // Without lambda, or in the metric of the data, their difference is outside the range.
  for (const Regularizer regularizer : {Regularizer::dropout, Regularizer::data_weight_decay}) {
    const LeftFactor singular =
        make_left_factor(twins.view(), unweighted, regularizer, 0, {}, plenty, *test.backend, test.execution);
    ASSERT_FALSE(singular.has_inverse());
    EXPECT_EQ(singular.Q.cols(), items - 1);
    const Matrix<float> Q = singular.Q.home();
    for (std::int64_t k = 0; k < Q.cols(); ++k) EXPECT_NEAR(Q(0, k), Q(1, k), 1e-6);
  }
}

/// solve_V against the Kronecker form of the V block.
void check_V(Regularizer regularizer, double lambda) {
  Case test(regularizer, lambda, true, true);
  AsymmetricPoint point{Resident<float>(*test.backend, random_matrix<float>(items, rank, 11)),
                        Resident<float>(*test.backend, items, rank)};
  complete(test.problem, point, *test.backend);
  solve_V(test.problem, point, 1e-12, *test.backend);
  const MatrixXd U = to_eigen(point.U.home());
  const VectorXd wanted = test.oracle.H_V(U).ldlt().solve(test.oracle.rhs_V(U));
  expect_close(vec(to_eigen(point.V.home())), wanted, 2e-5);
}

TEST(AsymmetricV, Equations6And10UnregularizedV) { check_V(Regularizer::weight_decay, 0); }
TEST(AsymmetricV, Equation14DropoutV) { check_V(Regularizer::dropout, 3); }
TEST(AsymmetricV, Equation15WeightDecayV) { check_V(Regularizer::weight_decay, 3); }
TEST(AsymmetricV, DataWeightDecayV) { check_V(Regularizer::data_weight_decay, 3); }

/// solve_U against the Kronecker form of the U block.
void check_U(Regularizer regularizer, double lambda) {
  Case test(regularizer, lambda, true, true);
  AsymmetricPoint point{Resident<float>(*test.backend, items, rank),
                        Resident<float>(*test.backend, random_matrix<float>(items, rank, 11))};
  const PcgOutcome outcome =
      solve_U(test.problem, test.left_factor(plenty), point, 1e-10, *test.backend, nullptr);
  EXPECT_EQ(outcome.status, PcgStatus::solved);
  const MatrixXd V = to_eigen(point.V.home());
  const VectorXd wanted = test.oracle.H_U(V).ldlt().solve(test.oracle.rhs_U(V));
  expect_close(vec(to_eigen(point.U.home())), wanted, 2e-5);
}

TEST(AsymmetricU, Equation9UnregularizedU) { check_U(Regularizer::weight_decay, 0); }
TEST(AsymmetricU, Equation12DropoutU) { check_U(Regularizer::dropout, 3); }
TEST(AsymmetricU, Equation13WeightDecayU) { check_U(Regularizer::weight_decay, 3); }
TEST(AsymmetricU, DataWeightDecayU) { check_U(Regularizer::data_weight_decay, 3); }

/// r'M^-1 r of the system at C = 0, by dense algebra.
double form_of_background(Case& test, const Matrix<float>& r) {
  const RowEntries none;
  UProblem background = test.system;
  background.entries = &none;
  KroneckerSystem system(background, *test.backend);
  const MatrixXd M = test.matrix_of([&](In<float> p, Out<float> out) { system.apply({{}, p}, out); });
  const VectorXd right = vec(to_eigen(r));
  return right.dot(((M + M.transpose()) / 2).ldlt().solve(right));
}

TEST(KroneckerBound, CloseToTheTruthAndNeverBelowItWhateverTheInverse) {
  for (const Regularizer regularizer : {Regularizer::weight_decay, Regularizer::dropout}) {
    for (const std::uint64_t bytes : {plenty, one_inverse, too_little}) {
      for (const double lambda : {0.5, 20.0}) {
        SCOPED_TRACE(::testing::Message()
                     << regularizer_name(regularizer) << ", lambda " << lambda << ", bytes " << bytes);
        Case test(regularizer, lambda, true, true);
        const Matrix<float> r = random_matrix<float>(items, rank, 12);
        const double truth = form_of_background(test, r);
        const auto bound = [&](const LeftFactor& left) {
          Resident<float> used(*test.backend, r.view());
          return bound_inverse_form(test.system, left, used, *test.backend);
        };
        LeftFactor left = test.left_factor(bytes);
        EXPECT_GE(bound(left), truth * (1 - 1e-5));
        EXPECT_LE(bound(left), truth * 1.05);
        for (Resident<float>* const part : {&left.inverse, &left.Q}) {
          for (std::int64_t i = 0; i < part->rows(); ++i) {
            const Out<float> only = part->view().block(i, 1);
            test.backend->combine(std::vector<Term<float>>{{.x = only, .scale = i % 3 == 0 ? 0.1 : 1.0}},
                                  only);
          }
        }
        for (double& value : left.s) value *= 2;
        EXPECT_GE(bound(left), truth * (1 - 1e-5));
      }
    }
  }
}

}  // namespace
}  // namespace poise
