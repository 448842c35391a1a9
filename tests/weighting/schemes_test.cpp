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
using testing::dense_weights;
using testing::DenseWeights;
using testing::error_message;
using testing::expect_same;
using testing::random_csr;

/// Random rows of growing size, each fourth empty. Nobody has item 0; all who have anything have item 1.
Csr example(bool with_values) {
  Csr result{.rows = 40, .cols = 25, .offsets = {0}};
  const Csr random = random_csr(result.rows, result.cols, 0.4, true, 3);
  for (std::int64_t u = 0; u < result.rows; ++u) {
    const auto items = random.view().row(u);
    const auto values = random.view().row_values(u);
    for (std::int64_t k = 0; u % 4 != 0 && k < std::ssize(items) && k <= u; ++k) {
      if (items[k] <= 1) continue;
      if (result.entries() == result.offsets.back()) {
        result.indices.push_back(1);
        if (with_values) result.values.push_back(0.25F);
      }
      result.indices.push_back(items[k]);
      if (with_values) result.values.push_back(values[k] * values[k] * 3);
    }
    result.offsets.push_back(result.entries());
  }
  return result;
}

class Schemes : public ::testing::TestWithParam<WeightingOptions> {};

TEST_P(Schemes, AgreeWithTheirFormulasOverFullMatrices) {
  for (const bool with_values : {false, true}) {
    if (GetParam().scheme == Scheme::column && !with_values) continue;  // refused; see below
    const Csr X = example(with_values);
    const Weights weights = make_weights(X.view(), GetParam());
    const DenseWeights expected = dense_weights(X.view(), GetParam());
    expect_same(weights, expected);
    const double observed = (expected.W.array() * dense_support(X.view())).sum();
    EXPECT_NEAR(weights.observed, observed, 1e-12 * observed);
    EXPECT_EQ(weights.support.indices.data(), X.indices.data());
    EXPECT_TRUE(weights.c.empty() || weights.c.size() == X.indices.size());
  }
}

TEST_P(Schemes, AreTheSameWhateverTheThreads) {
  Csr X = example(true);
  // Many rows, so that several tiles of them are made.
  const Csr one = X;
  for (int copy = 0; copy < 300; ++copy) {
    X.rows += one.rows;
    for (std::int64_t r = 1; r <= one.rows; ++r) X.offsets.push_back(X.entries() + one.offsets[r]);
    X.indices.insert(X.indices.end(), one.indices.begin(), one.indices.end());
    X.values.insert(X.values.end(), one.values.begin(), one.values.end());
  }
  const Weights expected = make_weights(X.view(), GetParam(), 1);
  const Weights weights = make_weights(X.view(), GetParam(), 4);
  EXPECT_EQ(weights.a, expected.a);
  EXPECT_EQ(weights.b, expected.b);
  EXPECT_EQ(weights.c, expected.c);
  EXPECT_EQ(weights.lowest, expected.lowest);
  EXPECT_EQ(weights.highest, expected.highest);
  EXPECT_EQ(weights.observed, expected.observed);
}

constexpr WeightingOptions scheme(Scheme scheme, double alpha, double clip = 10) {
  return {.scheme = scheme, .alpha = alpha, .clip = clip};
}

INSTANTIATE_TEST_SUITE_P(
    Weighting, Schemes,
    ::testing::Values(scheme(Scheme::none, 1), scheme(Scheme::constant, 1), scheme(Scheme::constant, 20),
                      scheme(Scheme::constant, 0.5), scheme(Scheme::constant, 0.001),
                      scheme(Scheme::linear, 0), scheme(Scheme::linear, 0.7), scheme(Scheme::linear, 40),
                      scheme(Scheme::log, 0), scheme(Scheme::log, 2),
                      WeightingOptions{.scheme = Scheme::log, .alpha = 2, .epsilon = 1e-6},
                      WeightingOptions{.scheme = Scheme::log, .alpha = 2, .epsilon = 50},
                      scheme(Scheme::user_oriented, 1), scheme(Scheme::user_oriented, 3),
                      scheme(Scheme::user_oriented, 3, 1.5), scheme(Scheme::user_oriented, 0.01, 1000),
                      scheme(Scheme::item_oriented, 1), scheme(Scheme::item_oriented, 2),
                      scheme(Scheme::item_oriented, 2, 1.2), scheme(Scheme::item_oriented, 0.02, 1),
                      scheme(Scheme::inverse_popularity, 1), scheme(Scheme::inverse_popularity, 0.3, 1.5),
                      scheme(Scheme::inverse_popularity, 5, 1),
                      WeightingOptions{.scheme = Scheme::inverse_popularity, .alpha = 2, .gamma = 0},
                      WeightingOptions{.scheme = Scheme::inverse_popularity, .gamma = 3, .clip = 1e6},
                      scheme(Scheme::column, 1), scheme(Scheme::column, 0.2), scheme(Scheme::column, 7)),
    [](const auto& info) {
      std::string name = std::to_string(info.index) + "_" + std::string(scheme_name(info.param.scheme));
      std::ranges::replace(name, '-', '_');
      return name;
    });

TEST(MakeWeights, SaysUniformWhereverWeightsAreAllOne) {
  const Csr X = example(true);
  const Csr plain = example(false);
  const auto uniform = [](const Csr& matrix, const WeightingOptions& options) {
    const Weights weights = make_weights(matrix.view(), options);
    EXPECT_EQ(weights.observed, static_cast<double>(matrix.entries()));
    EXPECT_EQ(weights.lowest, 1);
    EXPECT_EQ(weights.highest, 1);
    return weights.uniform();
  };
  EXPECT_TRUE(uniform(X, {}));
  EXPECT_TRUE(uniform(X, scheme(Scheme::none, 1)));
  EXPECT_TRUE(uniform(X, scheme(Scheme::linear, 0)));
  EXPECT_TRUE(uniform(X, scheme(Scheme::log, 0)));
  Csr ones = plain;
  ones.values.assign(ones.indices.size(), 1);
  EXPECT_TRUE(uniform(ones, scheme(Scheme::column, 1)));
  EXPECT_TRUE(uniform(plain, scheme(Scheme::user_oriented, 1, 1)));
  EXPECT_TRUE(uniform(plain, scheme(Scheme::item_oriented, 1, 1)));
  EXPECT_TRUE(uniform(plain, scheme(Scheme::inverse_popularity, 1, 1)));
}

TEST(MakeWeights, UserOrientedByHand) {
  // Sizes 4, 0, 2, 2: mean 2.
  const Csr X{
      .rows = 4, .cols = 4, .offsets = {0, 4, 4, 6, 8}, .indices = {0, 1, 2, 3, 0, 1, 2, 3}, .values = {}};
  const Weights weights = make_weights(X.view(), scheme(Scheme::user_oriented, 3, 8));
  EXPECT_EQ(weights.a, (std::vector<float>{2, 0.125, 1, 1}));
  EXPECT_TRUE(weights.b.empty());
  EXPECT_EQ(weights.c, (std::vector<float>{0.5, 0.5, 0.5, 0.5, 2, 2, 2, 2}));
  EXPECT_EQ(weights.lowest, 1);
  EXPECT_EQ(weights.highest, 3);
  EXPECT_EQ(weights.observed, 24);
}

TEST(MakeWeights, ItemOrientedClipsItemsOfEverybodyAndOfNobody) {
  // Users of the items: 3, 0, 3, 0: without them 0, 3, 0, 3, mean 1.5.
  const Csr X{.rows = 3, .cols = 4, .offsets = {0, 2, 4, 6}, .indices = {0, 2, 0, 2, 0, 2}, .values = {}};
  EXPECT_EQ(make_weights(X.view(), scheme(Scheme::item_oriented, 1, 4)).b,
            (std::vector<float>{0.25, 2, 0.25, 2}));
  const Weights weights = make_weights(X.view(), scheme(Scheme::item_oriented, 1, 1.25));
  EXPECT_EQ(weights.b, (std::vector<float>{0.8F, 1.25F, 0.8F, 1.25F}));
  EXPECT_TRUE(weights.a.empty());
  EXPECT_NEAR(weights.highest, 1.25, 1e-6);
  EXPECT_EQ(weights.observed, 6);
}

TEST(MakeWeights, CountsThatAreAllAlikeWeighNothing) {
  const Csr full{.rows = 2, .cols = 2, .offsets = {0, 2, 4}, .indices = {0, 1, 0, 1}, .values = {}};
  const Csr empty{.rows = 3, .cols = 2, .offsets = {0, 0, 0, 0}};
  const Csr nothing;
  for (const Csr& X : {full, empty, nothing}) {
    for (const Scheme each : {Scheme::user_oriented, Scheme::item_oriented, Scheme::inverse_popularity}) {
      const Weights weights = make_weights(X.view(), scheme(each, 1));
      EXPECT_TRUE(weights.uniform()) << scheme_name(each);
      EXPECT_EQ(weights.observed, static_cast<double>(X.entries()));
    }
  }
}

TEST(MakeWeights, RefusesValuesThatTheSchemeCannotTake) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Csr X{.rows = 2, .cols = 9, .offsets = {0, 1, 3}, .indices = {0, 2, 7}, .values = {1, 2, 0}};
  const auto message = [&](Scheme each, float value) {
    X.values[2] = value;
    return error_message(ErrorKind::input, [&] { make_weights(X.view(), scheme(each, 1)); });
  };
  for (const Scheme each : {Scheme::linear, Scheme::log, Scheme::column}) {
    for (const float value : {-1.0F, -infinity, infinity, nan, -1e-30F}) {
      const std::string text = message(each, value);
      EXPECT_NE(text.find(fmt::format("row 1, item 7 (both counted from 0) has {}", value)),
                std::string::npos)
          << text;
      EXPECT_NE(text.find(std::string("weighting ") + std::string(scheme_name(each))), std::string::npos);
    }
  }
  EXPECT_NE(message(Scheme::column, 0).find("needs finite values > 0"), std::string::npos);
  EXPECT_NE(message(Scheme::linear, -2).find("needs finite values >= 0"), std::string::npos);
  EXPECT_NE(error_message(ErrorKind::input, [&] { make_weights(X.view(), scheme(Scheme::linear, 0)); }), "");

  X.values[2] = 0;
  EXPECT_EQ(make_weights(X.view(), scheme(Scheme::linear, 1)).observed, 6);
  EXPECT_NO_THROW(make_weights(X.view(), scheme(Scheme::log, 1)));
  X.values[2] = nan;
  EXPECT_EQ(make_weights(X.view(), scheme(Scheme::constant, 2)).observed, 6);
}

TEST(MakeWeights, NeedsValuesWhereTheyAreTheWeights) {
  const Csr plain = example(false);
  const std::string text =
      error_message(ErrorKind::input, [&] { make_weights(plain.view(), scheme(Scheme::column, 2)); });
  EXPECT_NE(text.find("have no values"), std::string::npos) << text;
  for (const Scheme each : {Scheme::linear, Scheme::log, Scheme::constant, Scheme::item_oriented})
    EXPECT_NO_THROW(make_weights(plain.view(), scheme(each, 2)));
  EXPECT_NO_THROW(
      make_weights(Csr{.rows = 2, .cols = 3, .offsets = {0, 0, 0}}.view(), scheme(Scheme::column, 2)));
}

TEST(MakeWeights, NamesTheFirstOfSeveralBadEntries) {
  const Csr X{.rows = 2, .cols = 3, .offsets = {0, 2, 4}, .indices = {0, 2, 0, 1}, .values = {1, -3, -1, -2}};
  EXPECT_NE(error_message(ErrorKind::input, [&] { make_weights(X.view(), scheme(Scheme::linear, 1)); })
                .find("row 0, item 2"),
            std::string::npos);
}

TEST(MakeWeights, StaysInsideFloat32) {
  const auto refused = [](float first, float second, double alpha) {
    const Csr X{.rows = 1, .cols = 3, .offsets = {0, 2}, .indices = {0, 2}, .values = {first, second}};
    return error_message(ErrorKind::numerical,
                         [&] { make_weights(X.view(), scheme(Scheme::column, alpha)); });
  };
  EXPECT_NE(refused(1, 3e38F, 100).find("row 0, item 2 (both counted from 0) is too large"),
            std::string::npos);
  EXPECT_NE(refused(1e-20F, 3, 1).find("row 0, item 0 (both counted from 0) is less than 1e-06"),
            std::string::npos);
  const Csr X{.rows = 1, .cols = 3, .offsets = {0, 2}, .indices = {0, 2}, .values = {2e-6F, 3e38F}};
  const Weights weights = make_weights(X.view(), scheme(Scheme::column, 1));
  EXPECT_NEAR(weights.lowest, 2e-6, 1e-7);
}

}  // namespace
}  // namespace poise
