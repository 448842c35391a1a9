#include <cmath>
#include <vector>

#include "poise/backend/resident.hpp"

#include "conformance/backends.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::random_csr;
using testing::random_matrix;

POISE_BACKEND_SUITE(FactorProducts);
POISE_BACKEND_SUITE(TripleDot);
POISE_BACKEND_SUITE(SymmetricEigenpairs);

std::vector<float> weights(std::int64_t count) { return random_csr(1, count, 1, true, 6).values; }

/// The first columns of a wider matrix.
MatrixView<float> inside(Matrix<float>& wider, std::int64_t cols) {
  return {wider.view().data, wider.rows(), cols, wider.cols()};
}

TEST_P(FactorProducts, ScoresLikeTheReferenceInsideWiderMatrices) {
  for (const auto& [users, items, d] :
       {std::tuple{0, 3, 2}, {5, 0, 4}, {1, 1, 1}, {67, 100, 17}, {3, 33, 40}}) {
    SCOPED_TRACE(::testing::Message() << users << " x " << items << ", rank " << d);
    Matrix<float> Z = random_matrix<float>(users, d + 1, 3);
    Matrix<float> V = random_matrix<float>(items, d + 2, 4);
    Matrix<float> whole(users, items + 1, 77);
    Matrix<float> wanted(users, items);
    backend->factor_scores(inside(Z, d), inside(V, d), inside(whole, items));
    reference->factor_scores(inside(Z, d), inside(V, d), wanted.view());
    for (std::int64_t u = 0; u < users; ++u) {
      for (std::int64_t i = 0; i < items; ++i) ASSERT_NEAR(whole(u, i), wanted(u, i), 1e-5) << u << ", " << i;
      ASSERT_EQ(whole(u, items), 77) << "the margin of row " << u;
    }
  }
}

TEST_P(FactorProducts, AUserAloneScoresAsAmongOthers) {
  if (backend->traits().own_memory) GTEST_SKIP() << "a GPU may round otherwise";
  for (const std::int64_t d : {1, 8, 17, 40}) {
    Matrix<float> Z = random_matrix<float>(9, d + 1, 3);
    Matrix<float> V = random_matrix<float>(39, d + 2, 4);
    Matrix<float> together(9, 39);
    backend->factor_scores(inside(Z, d), inside(V, d), together.view());
    for (std::int64_t u = 0; u < 9; ++u) {
      Matrix<float> alone(1, 39);
      backend->factor_scores(inside(Z, d).block(u, 1), inside(V, d), alone.view());
      ASSERT_TRUE(std::ranges::equal(alone.row(0), together.row(u))) << "rank " << d << ", user " << u;
    }
  }
}

TEST_P(FactorProducts, LikePlainSums) {
  for (const auto& [rows, p, q] : {std::tuple{0, 3, 2}, {5, 0, 4}, {1, 1, 1}, {700, 17, 17}, {900, 40, 9}}) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << p << ", " << q);
    Matrix<float> Y = random_matrix<float>(rows, p + 1, 3);
    Matrix<float> Z = random_matrix<float>(rows, q + 2, 4);
    for (const bool weighted : {false, true}) {
      const std::vector<float> a = weighted ? weights(rows) : std::vector<float>();
      const auto sum = [&](const Matrix<float>& A, std::int64_t j, const Matrix<float>& B, std::int64_t k) {
        double total = 0;
        for (std::int64_t r = 0; r < A.rows(); ++r)
          total += (weighted ? static_cast<double>(a[r]) : 1.0) * static_cast<double>(A(r, j)) * B(r, k);
        return total;
      };
      const Matrix<double> product = backend->factor_product(inside(Y, p), a, inside(Z, q));
      const Matrix<double> gram = backend->factor_gram(inside(Z, q), a);
      ASSERT_EQ(product.rows(), p);
      ASSERT_EQ(product.cols(), q);
      for (std::int64_t k = 0; k < q; ++k) {
        for (std::int64_t j = 0; j < p; ++j) ASSERT_NEAR(product(j, k), sum(Y, j, Z, k), 1e-12 * (1 + rows));
        for (std::int64_t j = 0; j < q; ++j) {
          ASSERT_NEAR(gram(j, k), sum(Z, j, Z, k), 1e-12 * (1 + rows));
          ASSERT_EQ(gram(j, k), gram(k, j));
        }
      }
      const Matrix<double> serial = one_thread->factor_gram(inside(Z, q), a);
      for (std::int64_t k = 0; k < q; ++k) ASSERT_TRUE(std::ranges::equal(gram.row(k), serial.row(k)));
    }
  }
}

TEST_P(FactorProducts, RowsAreCombined) {
  for (const auto& [rows, p, q] : {std::tuple{0, 3, 2}, {1, 1, 1}, {700, 17, 20}, {300, 40, 9}}) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << p << ", " << q);
    Matrix<float> Z = random_matrix<float>(rows, p + 1, 3);
    const Matrix<float> before = random_matrix<float>(rows, q + 2, 4);
    const Matrix<double> A = random_matrix<double>(p, q, 5);
    const Matrix<double> B = random_matrix<double>(q, q, 6);
    for (const unsigned terms : {1U, 2U, 3U}) {
      const bool with_A = (terms & 1U) != 0;
      const bool with_B = (terms & 2U) != 0;
      Matrix<float> Y = before;
      backend->combine_rows(inside(Z, p), with_A ? A : Matrix<double>(), inside(Y, q),
                            with_B ? B : Matrix<double>());
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t k = 0; k < q; ++k) {
          double wanted = 0;
          for (std::int64_t j = 0; j < p && with_A; ++j) wanted += Z(r, j) * A(j, k);
          for (std::int64_t j = 0; j < q && with_B; ++j) wanted += before(r, j) * B(j, k);
          ASSERT_NEAR(Y(r, k), wanted, 1e-6 * (p + q)) << r << ", " << k;
        }
        for (std::int64_t k = q; k < q + 2; ++k) ASSERT_EQ(Y(r, k), before(r, k));
      }
    }
  }
}

TEST_P(FactorProducts, DividesByProducts) {
  Matrix<float> x = random_matrix<float>(37, 21, 3);
  const Matrix<float> before = x;
  std::vector<double> s(37);
  std::vector<double> t(21);
  for (std::size_t k = 0; k < s.size(); ++k) s[k] = static_cast<double>(k);
  for (std::size_t k = 0; k < t.size(); ++k) t[k] = 0.5 * static_cast<double>(k % 5);
  for (const double shift : {0.0, 2.0}) {
    x = before;
    backend->divide_by_products(x.view(), s, t, shift);
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      for (std::int64_t j = 0; j < x.cols(); ++j) {
        const double divisor = s[i] * t[j] + shift;
        ASSERT_FLOAT_EQ(x(i, j), divisor > 0 ? static_cast<float>(before(i, j) / divisor) : 0.0F);
      }
    }
  }
}

TEST_P(TripleDot, WithAndWithoutEachFactor) {
  for (const std::int64_t count : {1, 100, 70'000, 200'001}) {
    const std::vector<float> c = random_csr(1, count, 1, true, 1).values;
    const std::vector<float> x = random_csr(1, count, 1, true, 2).values;
    const std::vector<float> y = random_csr(1, count, 1, true, 3).values;
    for (const unsigned parts : {1U, 2U, 3U, 5U, 6U, 7U}) {
      const std::vector<float> none;
      const std::vector<float>& C = (parts & 1U) != 0 ? c : none;
      const std::vector<float>& X = (parts & 2U) != 0 ? x : none;
      const std::vector<float>& Y = (parts & 4U) != 0 ? y : none;
      double wanted = 0;
      double size = 0;
      for (std::int64_t e = 0; e < count; ++e) {
        const double term = (C.empty() ? 1.0 : C[e]) * (X.empty() ? 1.0 : X[e]) * (Y.empty() ? 1.0 : Y[e]);
        wanted += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(backend->triple_dot(C, X, Y), wanted, 1e-12 * size);
      EXPECT_EQ(backend->triple_dot(C, X, Y), one_thread->triple_dot(C, X, Y));
    }
  }
}

TEST_P(SymmetricEigenpairs, AreEigenpairs) {
  for (const std::int64_t n : {0, 1, 2, 33, 250}) {
    SCOPED_TRACE(n);
    const Matrix<double> root = random_matrix<double>(n, n, 4);
    Matrix<double> A(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t k = 0; k < n; ++k) A(i, j) += root(i, k) * root(j, k);
      }
    }
    const std::int64_t count = (n + 1) / 2;
    const auto check = [&](const EigenPairs& pairs, double tolerance) {
      ASSERT_EQ(std::ssize(pairs.s), count);
      ASSERT_EQ(pairs.Q.rows(), n);
      ASSERT_EQ(pairs.Q.cols(), count);
      for (std::int64_t k = 0; k < count; ++k) {
        if (k > 0) {
          ASSERT_GE(pairs.s[k - 1], pairs.s[k]);
        }
        double size = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          double product = 0;
          for (std::int64_t j = 0; j < n; ++j) product += A(i, j) * pairs.Q(j, k);
          ASSERT_NEAR(product, pairs.s[k] * pairs.Q(i, k), tolerance * pairs.s[0]);
          size += pairs.Q(i, k) * pairs.Q(i, k);
        }
        ASSERT_NEAR(size, 1, tolerance);
      }
    };
    Matrix<double> used = A;
    check(backend->symmetric_eigenpairs(used.view(), count), 1e-12);
    Matrix<float> rounded(n, n);
    for (std::int64_t i = 0; i < n; ++i) std::ranges::copy(A.row(i), rounded.row(i).begin());
    check(backend->symmetric_eigenpairs(rounded.view(), count), 1e-5);
    const EigenPairs all = backend->symmetric_eigenpairs(A);
    EXPECT_EQ(std::ssize(all.s), n);
  }
}

}  // namespace
}  // namespace poise
