#include "poise/solver/certificate.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace poise {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

TEST(Certificate, AnExcessThatIsNoNumberProvesNothing) {
  EXPECT_EQ(usable_excess(0.25), 0.25);
  EXPECT_EQ(usable_excess(-1e-20), 0);  // rounding
  EXPECT_EQ(usable_excess(not_a_number), infinite);
  EXPECT_EQ(usable_excess(infinite), infinite);
}

TEST(Certificate, NothingInExcessOfNothingIsNothing) {
  EXPECT_EQ(relative_excess(0, 0), 0);
  EXPECT_EQ(relative_excess(1, 4), 0.25);
  EXPECT_EQ(relative_excess(1, 0), infinite);
  EXPECT_EQ(relative_excess(1, -3), infinite);
}

TEST(Certificate, AColumnThatExplainsNothingHasNoRatio) {
  EXPECT_DOUBLE_EQ(column_ratio(0.5, 10, 8), 0.25);
  // It explains 1e-9 of its weight, and the optimum can explain no more than that and its excess.
  EXPECT_EQ(column_ratio(1e-9, 1, 1 - 1e-9), 0);
  // The optimum may explain a thousandth, of which this explains nothing.
  EXPECT_EQ(column_ratio(1e-3, 1, 1), infinite);
  EXPECT_GT(column_ratio(1e-3, 1, 1 - 1e-6), 100);
}

}  // namespace
}  // namespace poise
