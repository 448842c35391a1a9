#include "poise/weighting/fold_in.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/random_data.hpp"

namespace poise {
namespace {

using testing::error_message;
using testing::random_csr;

constexpr Scheme all_schemes[] = {
    Scheme::none,          Scheme::constant,           Scheme::linear, Scheme::log, Scheme::user_oriented,
    Scheme::item_oriented, Scheme::inverse_popularity, Scheme::column};

WeightingOptions options(Scheme scheme) {
  return {.scheme = scheme, .alpha = scheme == Scheme::none ? 1.0 : 3.0};
}

TEST(FoldInWeighting, WeighsAnyTrainingRowAsTrainingDid) {
  const Csr X = random_csr(30, 20, 0.3, true, 1);
  for (const Scheme scheme : all_schemes) {
    const Weights training = make_weights(X.view(), options(scheme));
    const FoldInWeighting fold_in(30, column_counts(X.view()), options(scheme));
    for (std::int64_t u = 0; u < X.rows; ++u) {
      const auto row = X.view().row(u);
      const auto values = X.view().row_values(u);
      const Csr history{.rows = 1,
                        .cols = X.cols,
                        .offsets = {0, std::ssize(row)},
                        .indices = {row.begin(), row.end()},
                        .values = {values.begin(), values.end()}};
      const Weights weights = fold_in.weights(history.view());
      ASSERT_EQ(weights.a_of(0), training.a_of(u)) << scheme_name(scheme);
      ASSERT_EQ(weights.b, training.b) << scheme_name(scheme);
      for (std::int64_t k = 0; k < std::ssize(row); ++k) {
        const float expected = training.c.empty() ? 0 : training.c[X.offsets[u] + k];
        ASSERT_EQ(weights.c.empty() ? 0 : weights.c[k], expected) << scheme_name(scheme);
      }
    }
  }
}

TEST(FoldInWeighting, TakesCountsAndMeansFromTraining) {
  // Three users, sizes 2, 1, 3; users of the items: 3, 2, 1, 0.
  const Csr X{.rows = 3, .cols = 4, .offsets = {0, 2, 3, 6}, .indices = {0, 1, 0, 0, 1, 2}, .values = {}};

  const FoldInWeighting users(X.view(), {.scheme = Scheme::user_oriented, .alpha = 5, .clip = 4});
  EXPECT_EQ(users.a(0), 0.25F);
  EXPECT_EQ(users.a(1), 0.5F);
  EXPECT_EQ(users.a(4), 2.0F);
  EXPECT_EQ(users.a(1000), 4.0F);
  EXPECT_EQ(users.b(3), 1.0F);
  EXPECT_EQ(users.weight(3, 7), 5);

  const FoldInWeighting items(X.view(), {.scheme = Scheme::item_oriented, .alpha = 5, .clip = 4});
  EXPECT_EQ(items.a(1000), 1.0F);
  EXPECT_EQ(items.b(0), 0.25F);
  EXPECT_EQ(items.b(1), static_cast<float>(1 / 1.5));
  EXPECT_EQ(items.b(3), 2.0F);

  const FoldInWeighting rare(X.view(),
                             {.scheme = Scheme::inverse_popularity, .alpha = 2, .gamma = 1, .clip = 2});
  EXPECT_EQ(rare.weight(0, 1), 2);
  EXPECT_EQ(rare.weight(1, 1), 3);
  EXPECT_EQ(rare.weight(2, 1), 4);
  EXPECT_EQ(rare.weight(3, 1), 4) << "an item that nobody has weighs as the rarest may";
}

TEST(FoldInWeighting, RefusesOtherItemsAndBadValues) {
  const Csr X = random_csr(5, 4, 0.5, true, 1);
  const FoldInWeighting linear(X.view(), {.scheme = Scheme::linear});
  EXPECT_NE(
      error_message(ErrorKind::input, [&] { (void)linear.weights(random_csr(2, 5, 1, true, 1).view()); }),
      "");
  EXPECT_TRUE(linear.accepts(0));
  EXPECT_FALSE(linear.accepts(-1));
  EXPECT_FALSE(FoldInWeighting(X.view(), {.scheme = Scheme::column}).accepts(0));
  EXPECT_TRUE(FoldInWeighting(X.view(), {}).accepts(-1));
}

}  // namespace
}  // namespace poise
