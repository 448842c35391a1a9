#include "poise/base/suggest.hpp"

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(EditDistance, CountsSlips) {
  EXPECT_EQ(edit_distance("train", "train", 3), 0);
  EXPECT_EQ(edit_distance("trian", "train", 3), 1);   // swapped
  EXPECT_EQ(edit_distance("trin", "train", 3), 1);    // missing
  EXPECT_EQ(edit_distance("traain", "train", 3), 1);  // too many
  EXPECT_EQ(edit_distance("tgain", "train", 3), 1);   // wrong
  EXPECT_EQ(edit_distance("EASE", "ease", 3), 0);
  EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3);
  EXPECT_EQ(edit_distance("", "abc", 3), 3);
}

TEST(EditDistance, EndsBeyondTheMost) {
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3);
  EXPECT_EQ(edit_distance("a", "abcdefgh", 2), 3);
  EXPECT_EQ(edit_distance("completely", "different!", 2), 3);
}

TEST(DidYouMean, NamesTheNearest) {
  const std::vector<std::string> names = {"train", "search", "study", "info", "-k"};
  EXPECT_EQ(did_you_mean("trian", names), " (did you mean 'train'?)");
  EXPECT_EQ(did_you_mean("serach", names), " (did you mean 'search'?)");
  EXPECT_EQ(did_you_mean("INFO", names), " (did you mean 'info'?)");
  EXPECT_EQ(did_you_mean("frobnicate", names), "");
  EXPECT_EQ(did_you_mean("", names), "");
  EXPECT_EQ(did_you_mean("x", std::vector<std::string>{"y"}), "");
}

TEST(DidYouMean, TakesTheFirstOfEquals) {
  EXPECT_EQ(did_you_mean("log", std::vector<std::string>{"lag", "leg", "lo"}), " (did you mean 'lag'?)");
}

}  // namespace
}  // namespace poise
