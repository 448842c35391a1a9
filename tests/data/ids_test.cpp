#include "poise/data/ids.hpp"

#include <string>

#include <gtest/gtest.h>

namespace poise {
namespace {

Ids ids_of(const std::vector<std::string>& texts) {
  Ids ids;
  for (const std::string& text : texts) ids.push_back(text);
  return ids;
}

std::vector<std::string> sorted(const std::vector<std::string>& texts) {
  const Ids ids = ids_of(texts);
  std::vector<std::string> result;
  for (const std::int32_t k : sorted_order(ids)) result.emplace_back(ids[k]);
  return result;
}

using Texts = std::vector<std::string>;

TEST(Ids, HoldTextsOfAnyKind) {
  const Ids ids = ids_of({"a", "", std::string("n\0l", 3), "ü\n"});
  ASSERT_EQ(ids.size(), 4);
  EXPECT_EQ(ids[1], "");
  EXPECT_EQ(ids[2], std::string_view("n\0l", 3));
  EXPECT_EQ(select(ids, {3, 0}), ids_of({"ü\n", "a"}));
}

TEST(SortedOrder, NumbersWhereAllAreNumbers) {
  EXPECT_EQ(sorted({"10", "9", "-1", "100"}), (Texts{"-1", "9", "10", "100"}));
  EXPECT_EQ(sorted({"17850.0", "9.5", "1e3"}), (Texts{"9.5", "1e3", "17850.0"}));
}

TEST(SortedOrder, BytesOtherwise) {
  EXPECT_EQ(sorted({"10", "9", "x"}), (Texts{"10", "9", "x"}));
  EXPECT_EQ(sorted({"nan", "2", "10"}), (Texts{"10", "2", "nan"}));
  EXPECT_EQ(sorted({"inf", "2", "10"}), (Texts{"10", "2", "inf"}));
  EXPECT_EQ(sorted({"2", "10", ""}), (Texts{"", "10", "2"}));
}

TEST(SortedOrder, TextsWhoseFirstBytesAreEqual) {
  const std::string zero("item-000\0", 9);
  EXPECT_EQ(sorted({"item-0002", "item-000", "item-00010", "item-0001", "item", zero, "\xc3\xbc", "z"}),
            (Texts{"item", "item-000", zero, "item-0001", "item-00010", "item-0002", "z", "\xc3\xbc"}));
}

TEST(SortedOrder, LongWholeNumbersExactly) {
  EXPECT_EQ(sorted({"9999999999999999999", "09999999999999999998", "1"}),
            (Texts{"1", "09999999999999999998", "9999999999999999999"}));
  EXPECT_EQ(sorted({"9007199254740993", "9007199254740992", "123456789012345678901234567890", "5"}),
            (Texts{"5", "9007199254740992", "9007199254740993", "123456789012345678901234567890"}));
  EXPECT_EQ(sorted({"-10", "-9", "-123456789012345678901234567890", "0"}),
            (Texts{"-123456789012345678901234567890", "-10", "-9", "0"}));
}

TEST(SortedOrder, EqualNumbersByBytes) {
  EXPECT_EQ(sorted({"7", "07", "007"}), (Texts{"007", "07", "7"}));
  EXPECT_EQ(sorted({"1.0", "1.00", "0.5"}), (Texts{"0.5", "1.0", "1.00"}));
}

}  // namespace
}  // namespace poise
