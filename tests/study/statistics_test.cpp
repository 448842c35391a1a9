#include "poise/study/statistics.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace poise {
namespace {

/// Student's sleep data (1908): the textbook paired t test, t = -4.0621 with 9 degrees of freedom,
/// p = 0.002833, 95 % interval -2.4598858 to -0.7001142.
TEST(PairedDifference, KnownAnswer) {
  const std::vector<double> a = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> b = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const PairedDifference result = paired_difference(a, b);
  EXPECT_EQ(result.users, 10);
  EXPECT_NEAR(result.difference, -1.58, 1e-12);
  EXPECT_NEAR(result.low, -2.4598858, 1e-7);
  EXPECT_NEAR(result.high, -0.7001142, 1e-7);
  EXPECT_NEAR(result.p, 0.00283289, 1e-8);
  const PairedDifference other = paired_difference(b, a);
  EXPECT_DOUBLE_EQ(other.difference, -result.difference);
  EXPECT_DOUBLE_EQ(other.p, result.p);
}

TEST(PairedDifference, ManyUsersAreNearlyNormal) {
  std::vector<double> a;
  std::vector<double> b;
  for (int k = 0; k < 100'000; ++k) {
    a.push_back(k % 2 == 0 ? 1.0 : -1.0);
    b.push_back(0);
  }
  a[0] += 100'000 * 1.959963985 / std::sqrt(100'000.0);
  const PairedDifference result = paired_difference(a, b);
  EXPECT_GT(result.p, 0.05);
  EXPECT_LT(result.low, 0);
}

TEST(PairedDifference, WithoutSpreadOrUsers) {
  const std::vector<double> ones = {1, 1, 1};
  const std::vector<double> zeros = {0, 0, 0};
  EXPECT_EQ(paired_difference(ones, ones).p, 1);
  EXPECT_EQ(paired_difference(ones, zeros).p, 0);
  EXPECT_EQ(paired_difference(ones, zeros).low, 1);
  const PairedDifference single = paired_difference(std::span(ones).first(1), std::span(zeros).first(1));
  EXPECT_EQ(single.p, 1);
  EXPECT_TRUE(std::isinf(single.low) && std::isinf(single.high));
  EXPECT_EQ(paired_difference({}, {}).p, 1);
}

/// Holm (1979): 0.01, 0.04, 0.03 and 0.005 become 0.03, 0.06, 0.06 and 0.02.
TEST(Holm, KnownAnswer) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  const std::vector<double> corrected = holm(p);
  const std::vector<double> expected = {0.03, 0.06, 0.06, 0.02};
  for (std::size_t k = 0; k < p.size(); ++k) EXPECT_NEAR(corrected[k], expected[k], 1e-12);
  EXPECT_TRUE(holm({}).empty());
  const std::vector<double> large = {0.9, 0.8};
  EXPECT_EQ(holm(large), (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace poise
