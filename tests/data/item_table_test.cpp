#include "poise/data/item_table.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "poise/base/error.hpp"

namespace poise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::filesystem::path table_of(const std::string& text, const std::string& name = "items.csv") {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / ("table_" + name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string problem_of(const std::string& text) {
  try {
    ItemTable::read(table_of(text, "bad.csv"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "";
}

TEST(ItemTable, ReadsQuotesMarksAndFurtherColumns) {
  const auto items = ItemTable::read(
      table_of("\xef\xbb\xbfpicture,title,id\r\n/1.png,\"A \"\"b\"\", c\nd\",x\n\n,plain 5\" tea,y\n"));
  ASSERT_EQ(items->size(), 2);
  EXPECT_EQ(items->id(0), "x");
  EXPECT_EQ(items->title(0), "A \"b\", c\nd");
  EXPECT_EQ(items->title_of("y"), "plain 5\" tea") << "a quote inside a field is text, as in logs";
  EXPECT_EQ(items->title_of("z"), "");
  EXPECT_TRUE(items->has_pictures());
  EXPECT_EQ(items->picture_of("x"), "/1.png");
  EXPECT_EQ(items->picture_of("z"), "");
  EXPECT_THAT(items->columns(0), ElementsAre(Pair("picture", "/1.png")));
  EXPECT_THAT(items->columns(1), IsEmpty());
}

TEST(ItemTable, FindsDelimiterAndColumnsAsLogsDo) {
  const auto tabs = ItemTable::read(table_of("name\tmovieId\tImage\ntea, green\t7\thttps://a/7.png\n"));
  EXPECT_EQ(tabs->id(0), "7");
  EXPECT_EQ(tabs->title(0), "tea, green");
  EXPECT_EQ(tabs->picture_of("7"), "https://a/7.png");
  const auto plain = ItemTable::read(table_of("StockCode;Description\n85123A;HEART\n85123A;AGAIN\n"));
  EXPECT_EQ(plain->title_of("85123A"), "HEART") << "the first of equal ids";
  EXPECT_FALSE(plain->has_pictures());
}

TEST(ItemTable, ReadsCompressedText) {
  const std::filesystem::path path = table_of("", "items.csv.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, "id,title\n1,packed\n");
  gzclose(file);
  EXPECT_EQ(ItemTable::read(path)->title_of("1"), "packed");
}

TEST(ItemTable, NamesTheLineOfAProblem) {
  EXPECT_THAT(problem_of(""), HasSubstr("is empty"));
  EXPECT_THAT(problem_of("\n\nid\n1\n"), HasSubstr(":3: there is one column"));
  EXPECT_THAT(problem_of("id,title\n1,\"a\nb\"\n2\n"), HasSubstr(":4: 1 fields, but the header has 2"));
  EXPECT_THAT(problem_of("id,title\n1,a,b\n"), HasSubstr(":2: 3 fields"));
  EXPECT_THAT(problem_of("id,title\n1,\"a\n"), HasSubstr(":2: a quoted field is never closed"));
  EXPECT_THAT(problem_of("id,title\n1,\"a\"b\n"), HasSubstr(":2: text follows a closing quote"));
  EXPECT_THAT(problem_of("id,title\n1,a\n,b\n"), HasSubstr(":3: no id"));
  EXPECT_THAT(problem_of("id,title\n1,\xff\n"), HasSubstr(":2: the text is not UTF-8"));
  EXPECT_THAT(problem_of(std::string("id,title\n1,a\0b\n", 15)), HasSubstr(":2: the line holds a NUL byte"));
  EXPECT_THROW(ItemTable::read(::testing::TempDir()), Error);
  EXPECT_THROW(ItemTable::read("/no/such/file"), Error);
}

}  // namespace
}  // namespace poise::testing
