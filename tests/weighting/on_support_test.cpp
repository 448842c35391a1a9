#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "poise/weighting/weighting.hpp"

#include "support/expect_error.hpp"
#include "support/random_data.hpp"
#include "weighting/dense_weights.hpp"

namespace poise {
namespace {

using testing::dense_support;
using testing::dense_values;
using testing::DenseWeights;
using testing::error_message;
using testing::random_csr;

DenseWeights dense(CsrView support, std::span<const float> a, std::span<const float> b) {
  DenseWeights result;
  result.background = Eigen::MatrixXd::Ones(support.rows, support.cols);
  for (Eigen::Index u = 0; u < support.rows; ++u) {
    for (Eigen::Index i = 0; i < support.cols; ++i) {
      if (!a.empty()) result.background(u, i) *= a[u];
      if (!b.empty()) result.background(u, i) *= b[i];
    }
  }
  result.W = (dense_support(support) > 0).select(dense_values(support), result.background.array()).matrix();
  return result;
}

TEST(WeightsOnSupport, AgreeWithFullMatrices) {
  const Csr X = random_csr(30, 20, 0.3, false, 1);
  std::vector<float> a(30);
  std::vector<float> b(20);
  for (int u = 0; u < 30; ++u) a[u] = 0.3F + static_cast<float>(u) / 10;
  for (int i = 0; i < 20; ++i) b[i] = 2.0F / static_cast<float>(i + 1);
  for (const bool with_values : {false, true}) {
    for (const double density : {0.0, 0.2, 1.0}) {
      const Csr support = random_csr(30, 20, density, with_values, 2);
      for (const bool with_a : {false, true}) {
        for (const bool with_b : {false, true}) {
          const std::span<const float> a_or_none =
              with_a ? std::span<const float>(a) : std::span<const float>();
          const std::span<const float> b_or_none =
              with_b ? std::span<const float>(b) : std::span<const float>();
          const Weights weights = weights_on_support(X.view(), support.view(), a_or_none, b_or_none);
          const DenseWeights expected = dense(support.view(), a_or_none, b_or_none);
          expect_same(weights, expected);
          const double observed = (expected.W.array() * dense_support(X.view())).sum();
          EXPECT_NEAR(weights.observed, observed, 1e-12 * observed);
        }
      }
    }
  }
}

TEST(WeightsOnSupport, OfTheDataItselfAreTheSchemeColumn) {
  const Csr X = random_csr(30, 20, 0.3, true, 5);
  const Weights column = make_weights(X.view(), {.scheme = Scheme::column});
  const Weights given = weights_on_support(X.view(), X.view());
  EXPECT_EQ(given.c, column.c);
  EXPECT_EQ(given.observed, column.observed);
  EXPECT_EQ(given.lowest, column.lowest);
  EXPECT_EQ(given.highest, column.highest);
}

TEST(WeightsOnSupport, OfOnesAreUniform) {
  const Csr X = random_csr(5, 4, 0.5, false, 1);
  const Csr support = random_csr(5, 4, 0.5, false, 2);
  EXPECT_TRUE(weights_on_support(X.view(), support.view(), std::vector<float>(5, 1), std::vector<float>(4, 1))
                  .uniform());
}

TEST(WeightsOnSupport, RefusesWhatIsNotPositiveAndFinite) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const Csr X = random_csr(2, 3, 0.5, false, 1);
  Csr support{.rows = 2, .cols = 3, .offsets = {0, 1, 2}, .indices = {2, 1}, .values = {1, 1}};
  for (const float bad : {0.0F, -0.1F, infinity, -infinity, nan}) {
    support.values[1] = bad;
    EXPECT_NE(error_message(ErrorKind::input, [&] { weights_on_support(X.view(), support.view()); })
                  .find(fmt::format("row 1, item 1 (both counted from 0) has {}", bad)),
              std::string::npos);
    const std::vector<float> a = {1, bad};
    const std::vector<float> b = {1, 1, bad};
    EXPECT_NE(
        error_message(ErrorKind::input, [&] { weights_on_support(X.view(), X.view(), a); }).find("a[1]"),
        std::string::npos);
    EXPECT_NE(
        error_message(ErrorKind::input, [&] { weights_on_support(X.view(), X.view(), {}, b); }).find("b[2]"),
        std::string::npos);
  }
}

TEST(WeightsOnSupport, RefusesShapesThatDiffer) {
  const Csr X = random_csr(2, 3, 0.5, false, 1);
  const std::vector<float> two(2, 1);
  const std::vector<float> three(3, 1);
  EXPECT_NE(error_message(ErrorKind::input,
                          [&] { weights_on_support(X.view(), random_csr(2, 4, 0.5, true, 1).view()); }),
            "");
  EXPECT_NE(error_message(ErrorKind::input,
                          [&] { weights_on_support(X.view(), random_csr(3, 3, 0.5, true, 1).view()); }),
            "");
  EXPECT_NE(error_message(ErrorKind::input, [&] { weights_on_support(X.view(), X.view(), three); }), "");
  EXPECT_NE(error_message(ErrorKind::input, [&] { weights_on_support(X.view(), X.view(), {}, two); }), "");
  EXPECT_NO_THROW(weights_on_support(X.view(), X.view(), two, three));
}

}  // namespace
}  // namespace poise
