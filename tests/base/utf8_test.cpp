#include "poise/base/utf8.hpp"

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(Utf8, IsToldFromOtherBytes) {
  for (const char* text : {"", "plain ascii text", "gr\xc3\xbc\xc3\x9f", "\xe6\x98\xa0\xe7\x94\xbb",
                           "\xf0\x9f\x8e\xac", "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const char* text : {"\x80", "\xc3", "abcdefgh\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf",
                           "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe6\x98", "a\xff"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

}  // namespace
}  // namespace poise
