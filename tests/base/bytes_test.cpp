#include "poise/base/bytes.hpp"

#include <gtest/gtest.h>

namespace poise {
namespace {

using Texts = std::pair<std::string, std::string>;

TEST(ComparedBytes, UseOneUnit) {
  EXPECT_EQ(compared_bytes(5e9, 2.5e9), Texts("5.0 GB", "2.5 GB"));
  EXPECT_EQ(compared_bytes(134e6, 67e6), Texts("134.0 MB", "67.0 MB"));
  EXPECT_EQ(compared_bytes(2e9, 200e6), Texts("2.0 GB", "0.2 GB"));
}

TEST(ComparedBytes, DifferWhereTheAmountsDo) {
  EXPECT_EQ(compared_bytes(67'120'000, 67'108'864), Texts("67.12 MB", "67.11 MB"));
  EXPECT_EQ(compared_bytes(1'000'000'001, 1'000'000'000), Texts("1.000000001 GB", "1.000000000 GB"));
  EXPECT_EQ(compared_bytes(1'000'001, 1'000'000), Texts("1.000001 MB", "1.000000 MB"));
  EXPECT_EQ(compared_bytes(1e9, 1e9), Texts("1.0 GB", "1.0 GB"));
}

}  // namespace
}  // namespace poise
