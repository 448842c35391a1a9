#include "poise/report/text.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace poise::report {
namespace {

TEST(ReportText, NumbersReadAsInThePaper) {
  EXPECT_EQ(accuracy(0.3764), "0.376");
  EXPECT_EQ(as_printed(0.3764), 0.376);
  EXPECT_EQ(as_printed(0.37651), 0.377);
  EXPECT_EQ(difference(0.00421), "+0.0042");
  EXPECT_EQ(difference(-0.019), "-0.0190");
  EXPECT_EQ(p_value(0.0123), "0.012");
  EXPECT_EQ(p_value(1e-12), "< 0.001");
  EXPECT_EQ(bound(3.21e-7), "3.2e-7");
  EXPECT_EQ(bound(3.21e-12), "3.2e-12");
  EXPECT_EQ(bound(0), "0");
  EXPECT_EQ(bound(std::nan("")), "none");
  EXPECT_EQ(direction({.users = 9, .difference = -0.1, .low = -0.2, .high = -0.01, .p = 0.04}), -1);
  EXPECT_EQ(direction({.users = 9, .difference = 0.1, .low = 0.01, .high = 0.2, .p = 0.04}), 1);
  EXPECT_EQ(direction({.users = 9, .difference = 0.1, .low = -0.01, .high = 0.2, .p = 0.06}), 0);
}

TEST(ReportText, SettingsAreShort) {
  EXPECT_EQ(setting(1e-4), "0.0001");
  EXPECT_EQ(setting(10000), "10000");
  EXPECT_EQ(setting(31.622776601683793), "31.62");
  EXPECT_EQ(setting(0.5), "0.5");
}

TEST(ReportText, CountsAreGrouped) {
  EXPECT_EQ(grouped(7), "7");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(136677), "136,677");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-123456), "-123,456");
}

TEST(ReportText, DurationsHaveTheirUnit) {
  EXPECT_EQ(duration(3.21), "3.2 s");
  EXPECT_EQ(duration(754), "13 min");
  EXPECT_EQ(duration(3600 + 300), "1 h 5 min");
}

TEST(ReportText, AnUnknownModelReadsAsItsKey) {
  EXPECT_EQ(model_name({.key = "slim", .zero_diagonal = true, .rank = {}}), "slim, zero diagonal");
  EXPECT_EQ(numbered_name({.key = "wmf", .zero_diagonal = false, .rank = 10}), "2. WMF");
  EXPECT_EQ(numbered_name({.key = "full-rank", .zero_diagonal = true, .rank = {}}),
            "Full rank, zero diagonal");
}

}  // namespace
}  // namespace poise::report
