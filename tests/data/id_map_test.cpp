#include "poise/data/log/id_map.hpp"

#include <string>
#include <unordered_map>

#include <gtest/gtest.h>

namespace poise::testing {
namespace {

TEST(IdMap, NumbersByFirstAppearance) {
  logs::IdMap map;
  EXPECT_EQ(map.intern("b"), 0);
  EXPECT_EQ(map.intern("a"), 1);
  EXPECT_EQ(map.intern("b"), 0);
  EXPECT_EQ(map.intern(""), 2);
  EXPECT_EQ(map.intern(std::string_view("\0", 1)), 3);
  EXPECT_EQ(map.intern(std::string_view("\0\0", 2)), 4);
  EXPECT_EQ(map.ids()[1], "a");
}

TEST(IdMap, AgreesWithAStandardMap) {
  logs::IdMap map;
  std::unordered_map<std::string, std::int32_t> expected;
  std::uint64_t state = 1;
  for (int k = 0; k < 300'000; ++k) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::string text = std::to_string((state >> 40U) % 50'000);
    if (k % 3 == 0) text = std::string(k % 30, 'x') + text;
    const auto number = expected.try_emplace(text, static_cast<std::int32_t>(expected.size())).first->second;
    ASSERT_EQ(map.intern(text), number) << text;
  }
  EXPECT_EQ(map.ids().size(), static_cast<std::int64_t>(expected.size()));
}

}  // namespace
}  // namespace poise::testing
