#include "poise/base/pool.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(Pool, ObjectsAreUsedAgainOneAfterTheOther) {
  int made = 0;
  Pool<int> pool([&] { return std::make_unique<int>(made++); });
  *pool.take() = 7;
  EXPECT_EQ(*pool.take(), 7);
  {
    const auto one = pool.take();
    const auto other = pool.take();
    EXPECT_EQ(*one, 7);
    EXPECT_EQ(*other, 1);
  }
  pool.take();
  EXPECT_EQ(made, 2);
}

TEST(Pool, AnObjectWhoseUseFailedIsDropped) {
  int made = 0;
  Pool<int> pool([&] { return std::make_unique<int>(made++); });
  EXPECT_THROW(
      {
        const auto taken = pool.take();
        throw std::runtime_error("half of the work is done");
      },
      std::runtime_error);
  EXPECT_EQ(*pool.take(), 1);
}

}  // namespace
}  // namespace poise
