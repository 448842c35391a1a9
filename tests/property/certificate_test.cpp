// Certificates of full-rank models against dense float64 algebra, on data made to mislead them: clusters of
// equal and nearly equal items, weak regularization, extreme weights. POISE_PROPERTY_CASES says how many
// (`make property`).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <lapacke.h>

#include "poise/backend/resident.hpp"
#include "poise/model/full_rank/certify.hpp"
#include "poise/model/full_rank/fit.hpp"
#include "poise/solver/column_certificate.hpp"
#include "poise/solver/column_data.hpp"
#include "poise/weighting/weighting.hpp"

#include "support/tested_backend.hpp"

namespace poise {
namespace {

using WideMatrix = Matrix<double>;

int cases(int usual) {
  const char* const asked = std::getenv("POISE_PROPERTY_CASES");
  return asked == nullptr ? usual : std::max(1, std::atoi(asked) / 4);
}

/// Users with a few of `quiet` items each, and a bundle of `twins` items that `fans` users have, all of them
/// but where `apart` says otherwise.
struct Shape {
  std::int32_t quiet;
  std::int32_t twins;
  std::int32_t fans;
  bool apart;
};

Csr bundle(const Shape& shape, std::mt19937& random) {
  const std::int32_t items = shape.quiet + shape.twins;
  Csr X{.rows = 0, .cols = items, .offsets = {0}};
  const auto add_user = [&](bool fan) {
    std::set<std::int32_t> history;
    const int others = fan ? static_cast<int>(random() % 3) : 1 + static_cast<int>(random() % 4);
    for (int k = 0; k < others; ++k)
      history.insert(static_cast<std::int32_t>(random() % static_cast<unsigned>(shape.quiet)));
    for (std::int32_t twin = 0; fan && twin < shape.twins; ++twin) {
      if (!shape.apart || random() % 500 != 0) history.insert(shape.quiet + twin);
    }
    X.indices.insert(X.indices.end(), history.begin(), history.end());
    X.offsets.push_back(X.entries());
    ++X.rows;
  };
  for (std::int32_t u = 0; u < shape.fans; ++u) add_user(true);
  for (std::int32_t u = 0; u < 2 * shape.quiet; ++u) add_user(false);
  return X;
}

/// W_ui of a user and an item.
double weight_of(CsrView X, const Weights& W, std::int64_t u, std::int32_t i) {
  const auto row = X.row(u);
  double w = W.a_of(u) * W.b_of(i);
  const auto found = std::lower_bound(row.begin(), row.end(), i);
  if (!W.c.empty() && found != row.end() && *found == i) w *= 1.0 + W.c[X.offsets[u] + (found - row.begin())];
  return w;
}

/// The problem of column i as a dense matrix, from X' diag(a) X.
WideMatrix system_of(CsrView X, const Csr& users_of, const Weights& W, const WideMatrix& G, double lambda,
                     std::int32_t i) {
  WideMatrix H = G;
  for (std::int64_t j = 0; j < X.cols; ++j) {
    for (double& entry : H.row(j)) entry *= W.b_of(i);
  }
  for (const std::int32_t u : users_of.view().row(i)) {
    const double more = weight_of(X, W, u, i) - W.a_of(u) * W.b_of(i);
    for (const std::int32_t j : X.row(u)) {
      for (const std::int32_t k : X.row(u)) H(j, k) += more;
    }
  }
  for (std::int64_t j = 0; j < X.cols; ++j) H(j, j) += lambda;
  return H;
}

bool factor(WideMatrix& H) {
  const auto n = static_cast<lapack_int>(H.rows());
  return LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, H.view().data, n) == 0;
}

/// |L^-1 v|^2 for each column of v, which is used up.
std::vector<double> inverse_norms(const WideMatrix& L, WideMatrix& v) {
  const auto n = static_cast<lapack_int>(L.rows());
  const auto count = static_cast<lapack_int>(v.cols());
  EXPECT_EQ(LAPACKE_dtrtrs(LAPACK_ROW_MAJOR, 'L', 'N', 'N', n, count, L.view().data, n, v.view().data, count),
            0);
  std::vector<double> norms(v.cols(), 0.0);
  for (std::int64_t j = 0; j < v.rows(); ++j) {
    for (std::int64_t k = 0; k < v.cols(); ++k) norms[k] += v(j, k) * v(j, k);
  }
  return norms;
}

/// The columns [first, first + count) through the data, in float64: rho_i = c_i - H_i B_:i, and what they
/// explain.
struct Residuals {
  WideMatrix rho;
  std::vector<double> observed;
  std::vector<double> explained;
};

Residuals residuals_of(CsrView X, const Weights& W, double lambda, const Matrix<float>& B, std::int64_t first,
                       std::int64_t count) {
  Residuals result{WideMatrix(X.cols, count), std::vector<double>(count, 0.0),
                   std::vector<double>(count, 0.0)};
  std::vector<double> error(count);
  for (std::int64_t u = 0; u < X.rows; ++u) {
    std::fill(error.begin(), error.end(), 0.0);
    for (const std::int32_t j : X.row(u)) {
      const float* const entries = &B.view()(j, first);
      for (std::int64_t k = 0; k < count; ++k) error[k] -= static_cast<double>(entries[k]);
    }
    for (std::int64_t k = 0; k < count && !W.b.empty(); ++k)
      error[k] *= W.b_of(static_cast<std::int32_t>(first + k));
    for (double& entry : error) entry *= W.a_of(u);
    for (const std::int32_t i : X.row(u)) {
      if (i < first || i >= first + count) continue;
      const double background = W.a_of(u) * W.b_of(i);
      const double w = weight_of(X, W, u, i);
      const double score = -error[i - first] / background;
      result.observed[i - first] += w;
      result.explained[i - first] += w * score;
      error[i - first] = w * (1 - score);
    }
    for (const std::int32_t j : X.row(u)) {
      double* const entries = &result.rho(j, 0);
      for (std::int64_t k = 0; k < count; ++k) entries[k] += error[k];
    }
  }
  for (std::int64_t j = 0; j < X.cols; ++j) {
    for (std::int64_t k = 0; k < count; ++k) {
      const auto entry = static_cast<double>(B.view()(j, first + k));
      result.rho(j, k) -= lambda * entry;
      result.explained[k] += entry * result.rho(j, k);
    }
  }
  return result;
}

struct Truth {
  double excess = 0;
  double worst = 0;
};

/// By how much each column is above its minimum: rho'H^-1 rho, without its own coordinate for the zero
/// diagonal.
Truth truth_of(CsrView X, const Weights& W, double lambda, const Matrix<float>& B, bool zero_diagonal,
               std::int64_t only = -1) {
  const std::int64_t n = X.cols;
  Truth truth;
  WideMatrix G(n, n);
  for (std::int64_t u = 0; u < X.rows; ++u) {
    for (const std::int32_t j : X.row(u)) {
      for (const std::int32_t k : X.row(u)) G(j, k) += W.a_of(u);
    }
  }
  const Csr users_of = transpose(X);
  const bool one_system = W.c.empty() && W.b.empty();
  constexpr std::int64_t at_a_time = 256;
  WideMatrix L;
  for (std::int64_t first = 0; first < n; first += one_system ? at_a_time : 1) {
    const std::int64_t count = one_system ? std::min(at_a_time, n - first) : 1;
    if (only >= 0 && (only < first || only >= first + count)) continue;
    if (!one_system || L.rows() == 0) {
      L = system_of(X, users_of, W, G, lambda, static_cast<std::int32_t>(first));
      EXPECT_TRUE(factor(L));
    }
    const Residuals residuals = residuals_of(X, W, lambda, B, first, count);
    WideMatrix rho = residuals.rho;
    const auto order = static_cast<lapack_int>(n);
    const auto width = static_cast<lapack_int>(count);
    WideMatrix unit(n, zero_diagonal ? count : 0);
    const auto solve = [&](WideMatrix& v) {
      EXPECT_EQ(
          LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', order, width, L.view().data, order, v.view().data, width), 0);
    };
    if (zero_diagonal) {
      for (std::int64_t k = 0; k < count; ++k) unit(first + k, k) = 1;
      solve(unit);
    }
    // The least over what is added to the own coordinate; a second time for what the first lost to rounding.
    for (int time = 0; zero_diagonal && time < 2; ++time) {
      WideMatrix solved = rho;
      solve(solved);
      for (std::int64_t k = 0; k < count; ++k) rho(first + k, k) -= solved(first + k, k) / unit(first + k, k);
    }
    const std::vector<double> excess = inverse_norms(L, rho);
    for (std::int64_t k = 0; k < count; ++k) {
      truth.excess += excess[k];
      const double explained = residuals.explained[k];
      if (residuals.observed[k] > 0 && explained + excess[k] > 1e-7 * residuals.observed[k])
        truth.worst = std::max(truth.worst, explained > 0 ? excess[k] / explained : INFINITY);
    }
  }
  return truth;
}

/// A float32 matrix cannot be closer to the optimum than its last bit.
double rounding_of(CsrView X) { return 1e-15 * static_cast<double>(X.entries()); }

void expect_covered(const Certificate& certificate, const Truth& truth, CsrView X, double hi_over_lo,
                    bool sound) {
  EXPECT_GE(certificate.absolute * (1 + 1e-6) + 1e-3 * rounding_of(X), truth.excess)
      << "a certificate that is too small";
  EXPECT_GE(certificate.worst_column * (1 + 1e-6) + 1e-15, truth.worst)
      << "a column that is worse than its certificate";
  if (sound) {
    EXPECT_LE(certificate.absolute, 6 * hi_over_lo * truth.excess + rounding_of(X)) << "far above the truth";
  }
}

class CertificateProperty : public ::testing::Test {
 protected:
  std::unique_ptr<Backend> backend = testing::tested_backend(2);
  Execution execution{.threads = 2};
};

TEST_F(CertificateProperty, UnweightedClustersAreCovered) {
  std::mt19937 random(7);
  const double lambdas[] = {1e-4, 1e-3, 1e-2, 1e-1, 1, 10};
  const std::int32_t quiets[] = {500, 700, 1000};
  const std::int32_t many[] = {500, 1000, 2000, 5000};
  const bool property_run = cases(36) > 100;
  for (int k = 0; k < cases(36); ++k) {
    const Shape shape{property_run ? many[random() % (k % 25 == 0 ? 4 : 3)] : quiets[random() % 3],
                      2 + static_cast<std::int32_t>(random() % (k % 3 == 1 ? 49 : 4)),
                      k % 6 == 0 ? 20000 : 300, k % 4 >= 2};
    const double lambda = lambdas[random() % 6];
    const bool zero_diagonal = k % 2 == 1;
    SCOPED_TRACE(::testing::Message()
                 << shape.quiet << " + " << shape.twins << " items, " << shape.fans << " fans, apart "
                 << shape.apart << ", lambda " << lambda << ", zero diagonal " << zero_diagonal);
    const Csr X = bundle(shape, random);
    const Weights W = make_weights(X.view(), {});
    const FullRankOptions options{
        .lambda = lambda, .unconstrained = !zero_diagonal, .zero_diagonal = zero_diagonal};
    const FullRankFit fit = fit_full_rank(X.view(), W, options, *backend, execution);
    const FullRankSolution& solution = fit.solutions.front();
    const Truth truth = truth_of(X.view(), W, lambda, solution.B, zero_diagonal);
    expect_covered(solution.certificate, truth, X.view(), 1, solution.converged);
    EXPECT_TRUE(solution.converged);
  }
}

TEST_F(CertificateProperty, WeightedClustersAreCovered) {
  std::mt19937 random(11);
  const double lambdas[] = {1e-4, 1e-2, 1, 10};
  const double alphas[] = {0.1, 0.5, 2, 5, 20, 100};
  for (int k = 0; k < cases(40); ++k) {
    const Shape shape{40 + static_cast<std::int32_t>(random() % 120),
                      2 + static_cast<std::int32_t>(random() % (k % 3 == 0 ? 30 : 4)),
                      k % 2 == 0 ? 4000 : 200, k % 4 >= 2};
    const double lambda = lambdas[random() % 4];
    const double alpha = alphas[random() % 6];
    const bool zero_diagonal = random() % 2 == 1;
    const Scheme scheme = k % 5 == 0   ? Scheme::item_oriented
                          : k % 5 == 1 ? Scheme::user_oriented
                                       : Scheme::constant;
    SCOPED_TRACE(::testing::Message()
                 << shape.quiet << " + " << shape.twins << " items, lambda " << lambda << ", alpha " << alpha
                 << ", scheme " << scheme_name(scheme) << ", zero diagonal " << zero_diagonal);
    const Csr X = bundle(shape, random);
    const Weights W = make_weights(X.view(), {.scheme = scheme, .alpha = alpha});
    const FullRankOptions options{
        .lambda = lambda, .unconstrained = !zero_diagonal, .zero_diagonal = zero_diagonal};
    const FullRankFit fit = fit_full_rank(X.view(), W, options, *backend, execution);
    const FullRankSolution& solution = fit.solutions.front();
    const Truth truth = truth_of(X.view(), W, lambda, solution.B, zero_diagonal);
    double ratio = W.highest / W.lowest;
    if (!W.b.empty()) ratio *= 1e2;  // b within [1 / clip, clip] of its mean
    expect_covered(solution.certificate, truth, X.view(), ratio, solution.converged);
  }
}

/// B' of a matrix.
Matrix<float> transposed(const Matrix<float>& B) {
  Matrix<float> columns(B.cols(), B.rows());
  for (std::int64_t j = 0; j < B.rows(); ++j) {
    for (std::int64_t i = 0; i < B.cols(); ++i) columns(i, j) = B(j, i);
  }
  return columns;
}

TEST_F(CertificateProperty, PlantedErrorsAreFound) {
  std::mt19937 random(13);
  for (int k = 0; k < cases(24); ++k) {
    const bool zero_diagonal = k % 2 == 1;
    const double alpha = k % 4 < 2 ? 1 : 3;
    const double lambda = k % 3 == 0 ? 0.1 : 20;
    const Csr X = bundle({150, 3, 500, true}, random);
    const Weights W = make_weights(X.view(), {.alpha = alpha});
    const FullRankOptions options{
        .lambda = lambda, .unconstrained = !zero_diagonal, .zero_diagonal = zero_diagonal};
    FullRankFit fit = fit_full_rank(X.view(), W, options, *backend, execution);
    Matrix<float>& B = fit.solutions.front().B;
    const FullRankCheck sound = certify_full_rank(X.view(), W, options, transposed(B), *backend, execution);
    SCOPED_TRACE(::testing::Message()
                 << "alpha " << alpha << ", lambda " << lambda << ", zero diagonal " << zero_diagonal);
    EXPECT_TRUE(sound.converged);
    expect_covered(fit.solutions.front().certificate, truth_of(X.view(), W, lambda, B, zero_diagonal),
                   X.view(), alpha, true);
    expect_covered(sound.certificate, truth_of(X.view(), W, lambda, B, zero_diagonal), X.view(), alpha, true);
    EXPECT_NEAR(sound.objective, fit.solutions.front().objective, 1e-6 * sound.objective);

    // One entry, one column at random, one column scaled, each until the true ratio is just above the
    // tolerance.
    const auto item = static_cast<std::int32_t>(random() % static_cast<unsigned>(X.cols));
    const auto other =
        static_cast<std::int32_t>((item + 1 + static_cast<std::int32_t>(random() % 50)) % X.cols);
    const Matrix<float> good = B;
    const int kind = k % 3;
    for (double size = 1e-6; size < 1; size *= 1.5) {
      B = good;
      if (kind == 0) B(other, item) += static_cast<float>(size);
      for (std::int64_t j = 0; j < X.cols && kind > 0; ++j) {
        if (kind == 2)
          B(j, item) *= static_cast<float>(1 + size);
        else if (j != item)
          B(j, item) += static_cast<float>(size * (static_cast<double>(random() % 1000) / 500 - 1));
      }
      if (truth_of(X.view(), W, lambda, B, zero_diagonal, item).worst > options.tolerance) break;
    }
    const Truth truth = truth_of(X.view(), W, lambda, B, zero_diagonal);
    SCOPED_TRACE(::testing::Message() << "kind " << kind << ", item " << item << ", alpha " << alpha
                                      << ", lambda " << lambda << ", zero diagonal " << zero_diagonal);
    ASSERT_GT(truth.worst, options.tolerance);
    const FullRankCheck found = certify_full_rank(X.view(), W, options, transposed(B), *backend, execution);
    EXPECT_FALSE(found.converged);
    EXPECT_GE(found.missing, 1);
    EXPECT_GE(found.certificate.worst_column, options.tolerance);
    expect_covered(found.certificate, truth, X.view(), alpha, true);

    B = good;
    B(other, item) = NAN;
    EXPECT_FALSE(certify_full_rank(X.view(), W, options, transposed(B), *backend, execution).converged);
  }
}

/// An inverse with errors in it, as a certificate may be given one.
class WrongInverse final : public ApproximateInverse {
 public:
  explicit WrongInverse(WideMatrix P) : P_(std::move(P)) {}
  [[nodiscard]] WideMatrix apply(const WideMatrix& y) override {
    WideMatrix e(y.rows(), y.cols());
    for (std::int64_t i = 0; i < P_.rows(); ++i) {
      for (std::int64_t j = 0; j < P_.cols(); ++j) {
        for (std::int64_t k = 0; k < y.cols(); ++k) e(i, k) += P_(i, j) * y(j, k);
      }
    }
    return e;
  }

 private:
  WideMatrix P_;
};

WideMatrix inverse_of(WideMatrix A) {
  const auto n = static_cast<lapack_int>(A.rows());
  EXPECT_TRUE(factor(A));
  EXPECT_EQ(LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', n, A.view().data, n), 0);
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (std::int64_t j = i + 1; j < A.cols(); ++j) A(i, j) = A(j, i);
  }
  return A;
}

TEST_F(CertificateProperty, AWrongInverseNeverMakesABoundTooSmall) {
  std::mt19937 random(17);
  std::normal_distribution<double> normal;
  for (int k = 0; k < cases(16); ++k) {
    const bool zero_diagonal = k % 2 == 1;
    const double alpha = k % 4 < 2 ? 1 : 5;
    const double lambda = k % 3 == 0 ? 0.01 : 5;
    const Csr X = bundle({60, 2 + static_cast<std::int32_t>(random() % 3), 800, k % 5 == 0}, random);
    const Weights W = make_weights(X.view(), {.alpha = alpha});
    const FullRankOptions options{
        .lambda = lambda, .unconstrained = !zero_diagonal, .zero_diagonal = zero_diagonal};
    Matrix<float> B = fit_full_rank(X.view(), W, options, *backend, execution).solutions.front().B;
    if (k % 2 == 0) B(1, 0) += 1e-3F;  // an error of B's own
    const Truth truth = truth_of(X.view(), W, lambda, B, zero_diagonal);
    const ColumnProblem problem = make_column_problem(X.view(), W, std::vector<double>(X.cols, lambda));
    const ColumnData data(problem, *backend, execution);
    const SharedSystem& A = data.shared_system();
    const Matrix<float> columns = transposed(B);
    std::vector<std::int32_t> all(X.cols);
    std::iota(all.begin(), all.end(), 0);
    std::vector<double> explained(X.cols);
    const Lent there(*backend, columns);
    backend->column_form(X.view(), data.users_of(), all, there.view(), explained, {});

    const WideMatrix good = inverse_of([&] {
      WideMatrix G(X.cols, X.cols);
      for (std::int64_t u = 0; u < X.rows; ++u) {
        for (const std::int32_t i : X.view().row(u)) {
          for (const std::int32_t j : X.view().row(u)) G(i, j) += 1;
        }
      }
      for (std::int64_t i = 0; i < X.cols; ++i) G(i, i) += lambda;
      return G;
    }());
    const auto item = static_cast<std::int64_t>(random() % static_cast<unsigned>(X.cols));
    const std::int64_t twin = X.cols - 1;
    const auto check = [&](const char* kind, const auto& spoil) {
      SCOPED_TRACE(::testing::Message() << kind << ", alpha " << alpha << ", lambda " << lambda
                                        << ", zero diagonal " << zero_diagonal);
      WideMatrix P = good;
      for (std::int64_t i = 0; i < P.rows(); ++i) {
        for (std::int64_t j = 0; j < P.cols(); ++j) spoil(i, j, P(i, j));
      }
      ColumnCertificate proof(A, data.observed(), zero_diagonal, *backend, execution);
      if (k % 3 == 1) proof.expect_iterated_columns();
      proof.add(all, there.view(), explained, {}, {});
      WrongInverse wrong(std::move(P));
      proof.prove(wrong, there.view(), options.tolerance);
      expect_covered(proof.certificate(), truth, X.view(), alpha, false);
    };
    check("right", [](auto, auto, double&) {});
    check("nothing", [](auto, auto, double& entry) { entry = 0; });
    check("ten times too large", [](auto, auto, double& entry) { entry *= 10; });
    check("its sign wrong", [](auto, auto, double& entry) { entry = -entry; });
    check("noise", [&](auto, auto, double& entry) { entry *= 1 + 0.1 * normal(random); });
    check("a row of zeros", [&](auto i, auto, double& entry) { entry *= i == item ? 0 : 1; });
    check("a duplicate lost",
          [&](auto i, auto j, double& entry) { entry *= i == twin || j == twin ? 0 : 1; });
    check("one entry", [&](auto i, auto j, double& entry) { entry += i == item && j == twin ? 1e3 : 0; });
    check("not a number",
          [&](auto i, auto j, double& entry) { entry = i == item && j == twin ? NAN : entry; });
  }
}

}  // namespace
}  // namespace poise
