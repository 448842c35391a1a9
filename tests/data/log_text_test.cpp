#include <charconv>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "poise/data/log/text.hpp"
#include "poise/data/numbers.hpp"

namespace poise::testing {
namespace {

TEST(LogText, ParsesNumbersAsFromCharsDoes) {
  for (const std::string text :
       {"0", "5", "3.5", ".5", "5.", "0.1", "123456789012345", "1234567890123456789", "0.000001", "-1.5",
        "1e3", "2.5E-3", "123456.789012345", "9007199254740993"}) {
    double expected = 0;
    std::from_chars(text.data(), text.data() + text.size(), expected);
    EXPECT_EQ(parse_number(text), expected) << text;
  }
  EXPECT_EQ(parse_number(" 4 "), 4);
  EXPECT_EQ(parse_number("+4"), 4);
  EXPECT_EQ(parse_number(" +0.5"), 0.5);
  EXPECT_EQ(parse_number("1e-999"), 0);
  EXPECT_TRUE(std::isinf(parse_number("1e999").value()));
  EXPECT_TRUE(std::isnan(parse_number("nan").value()));
  for (const char* text :
       {"", " ", ".", "-", "x", "1x", "1.2.3", "1,5", "0x10", "--1", "1 2", "+", "++1", "+-1", "-+1"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
}

TEST(LogText, ParsesWholeNumbersOfDigitsAlone) {
  EXPECT_EQ(parse_whole_number("0", 10), 0);
  EXPECT_EQ(parse_whole_number("010", 10), 10);
  for (const char* text : {"", "11", "-1", "+1", " 1", "1.0", "x", "99999999999999999999"}) {
    EXPECT_FALSE(parse_whole_number(text, 10)) << text;
  }
}

TEST(LogText, ShowsTextInMessages) {
  EXPECT_EQ(logs::shown("a b"), "'a b'");
  EXPECT_EQ(logs::shown(std::string_view("a\0\xff", 3)), "'a\\x00\\xff'");
  EXPECT_EQ(logs::shown("gr\xc3\xbcn"), "'gr\xc3\xbcn'");
  EXPECT_EQ(logs::shown(std::string(50, 'x')), "'" + std::string(40, 'x') + "...'");
}

}  // namespace
}  // namespace poise::testing
