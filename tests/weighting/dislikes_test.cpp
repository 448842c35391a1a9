#include <gtest/gtest.h>

#include "poise/weighting/fold_in.hpp"
#include "poise/weighting/weighting.hpp"

#include "dense_weights.hpp"
#include "support/expect_error.hpp"
#include "support/random_data.hpp"
#include "support/random_dislikes.hpp"

namespace poise {
namespace {

using testing::error_message;
using testing::random_csr;
using testing::random_dislikes;

/// The scheme's weights as full matrices, with those of dislikes.
testing::DenseWeights dense_with_dislikes(CsrView X, CsrView disliked, const WeightingOptions& options) {
  testing::DenseWeights dense = testing::dense_weights(X, options);
  for (std::int64_t u = 0; u < X.rows; ++u) {
    for (const std::int32_t i : disliked.row(u))
      dense.W(u, i) = options.alpha_negative * dense.background(u, i);
  }
  return dense;
}

TEST(Dislikes, WeighRelativeToTheBackgroundInEveryScheme) {
  const Csr X = random_csr(30, 20, 0.2, true, 1, true);
  const Csr disliked = random_dislikes(X.view(), 0.15, 2);
  ASSERT_GT(disliked.entries(), 20);
  for (const SchemeTraits& scheme : schemes()) {
    for (const double alpha_negative : {0.001, 0.1, 3.0, 20.0}) {
      SCOPED_TRACE(fmt::format("{} {}", scheme.name, alpha_negative));
      WeightingOptions options{.scheme = parse_scheme(scheme.name), .alpha_negative = alpha_negative};
      if (options.scheme != Scheme::none) options.alpha = 2.5;
      const Weights plain = make_weights(X.view(), {.scheme = options.scheme, .alpha = options.alpha});
      for (const int threads : {1, 3}) {
        const Weights weights = make_weights({X.view(), disliked.view()}, options, threads);
        testing::expect_same(weights, dense_with_dislikes(X.view(), disliked.view(), options));
        EXPECT_EQ(weights.support.entries(), X.entries() + disliked.entries());
        EXPECT_EQ(weights.observed, plain.observed) << "the sum over X's entries";
        EXPECT_EQ(weights.a, plain.a);
        EXPECT_EQ(weights.b, plain.b);
      }
    }
  }
}

TEST(Dislikes, OfWeightOneAreNotThere) {
  const Csr X = random_csr(30, 20, 0.2, false, 1);
  const Csr disliked = random_dislikes(X.view(), 0.15, 2);
  const Weights weights = make_weights({X.view(), disliked.view()}, {.alpha = 3});
  EXPECT_EQ(weights.support.indices.data(), X.indices.data());
  EXPECT_EQ(weights.own_support, nullptr);
  EXPECT_TRUE(make_weights({X.view(), disliked.view()}, {}).uniform());
}

TEST(Dislikes, OfAnItemThatTheUserHasDoNotCount) {
  const Csr X{.rows = 2, .cols = 3, .offsets = {0, 2, 2}, .indices = {0, 2}};
  const Csr disliked{.rows = 2, .cols = 3, .offsets = {0, 2, 3}, .indices = {1, 2, 0}};
  const Weights weights = make_weights({X.view(), disliked.view()}, {.alpha = 4, .alpha_negative = 7});
  EXPECT_EQ(std::vector(weights.support.indices.begin(), weights.support.indices.end()),
            (std::vector<std::int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(weights.c, (std::vector<float>{3, 6, 3, 6}));
}

TEST(Dislikes, RefusedWhereThereAreNoneOrOutOfRange) {
  const Csr X = random_csr(5, 4, 0.5, false, 1);
  const Csr none{.rows = 5, .cols = 4, .offsets = std::vector<std::int64_t>(6, 0)};
  EXPECT_NE(
      error_message(ErrorKind::usage, [&] { make_weights(X.view(), {.alpha_negative = 2}); }).find("none"),
      std::string::npos);
  EXPECT_NE(error_message(ErrorKind::usage,
                          [&] {
                            make_weights({X.view(), none.view()}, {.alpha_negative = 2});
                          }),
            "");
  for (const double bad : {0.0, -1.0, 0.0009, 1e31, std::nan("")})
    EXPECT_NE(error_message(ErrorKind::usage, [&] { validate(WeightingOptions{.alpha_negative = bad}); })
                  .find("alpha-negative"),
              std::string::npos);
  const Csr other = random_csr(5, 3, 0.5, false, 1);
  EXPECT_NE(error_message(ErrorKind::input,
                          [&] {
                            make_weights({X.view(), other.view()}, {.alpha_negative = 2});
                          }),
            "");
}

/// A fold-in is weighed as the training row of the same items and dislikes.
TEST(Dislikes, OfAHistoryWeighAsInTraining) {
  const Csr X = random_csr(30, 20, 0.2, true, 1);
  const Csr disliked = random_dislikes(X.view(), 0.15, 2);
  for (const Scheme scheme : {Scheme::constant, Scheme::user_oriented, Scheme::item_oriented}) {
    const WeightingOptions options{.scheme = scheme, .alpha = 3, .alpha_negative = 5};
    const UserRows all(X.view(), disliked.view());
    const Weights training = make_weights(all, options);
    const FoldInWeighting fold_in(30, column_counts(X.view()), options);
    const UserRows block = all.block(10, 7);
    const Csr items = copy_of(block.items);
    const Weights weights = fold_in.weights({items.view(), block.disliked});
    ASSERT_EQ(weights.support.rows, 7);
    for (std::int64_t u = 0; u < 7; ++u) {
      ASSERT_TRUE(std::ranges::equal(weights.support.row(u), training.support.row(10 + u)));
      for (std::int64_t k = 0; k < weights.support.row_size(u); ++k)
        ASSERT_EQ(weights.c[weights.support.offsets[u] + k],
                  training.c[training.support.offsets[10 + u] + k]);
    }
  }
}

}  // namespace
}  // namespace poise
