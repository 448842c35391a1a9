#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/log_data.hpp"

namespace poise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LogOptions columns(std::vector<std::string> names) {
  LogOptions options;
  options.columns = std::move(names);
  return options;
}

LogOptions format(LogFormat format) {
  LogOptions options;
  options.format = format;
  return options;
}

TEST(DelimitedLog, FindsTheDelimiter) {
  const auto expected = ElementsAre("1|a|2", "3|b|4", "1|b|0.5");
  for (const std::string delimiter : {",", "\t", "::", ";", "|", " "}) {
    std::string text;
    for (const char* row : {"1 a 2", "3 b 4", "1 b 0.5"}) {
      for (const char* c = row; *c != '\0'; ++c) text += *c == ' ' ? delimiter : std::string(1, *c);
      text += "\n";
    }
    EXPECT_THAT(rows_of(read_text(text)), expected) << delimiter;
  }
}

TEST(DelimitedLog, FindsTheDelimiterInSpiteOfABadLine) {
  LogOptions options;
  options.skip_bad_lines = true;
  EXPECT_THAT(rows_of(read_text("u,a;b,1\nx|y|z|t|k\nu,c,2\n", options)), ElementsAre("u|a;b|1", "u|c|2"));
  EXPECT_THAT(error_of("1;a;2,5\n2;b;3\n").what(), HasSubstr("the value '2,5' is not a number"));
}

TEST(DelimitedLog, TakesAnyDelimiterAskedFor) {
  LogOptions options;
  options.delimiter = "<>";
  EXPECT_THAT(rows_of(read_text("a,b<>c<>1\n", options)), ElementsAre("a,b|c|1"));
  options.delimiter = "\\t";
  EXPECT_THAT(rows_of(read_text("a,b\tc\t1\n", options)), ElementsAre("a,b|c|1"));
  options.delimiter = "\n";
  EXPECT_EQ(error_of("a\n", options).kind(), ErrorKind::usage);
}

TEST(DelimitedLog, NumbersIdsByFirstAppearanceAmongKeptRows) {
  LogOptions options;
  options.keep_above = 3.5;
  const Interactions log = read_text("x,p,1\ny,q,4\nx,q,3.5\nx,p,5\n,p,5\ny,,1\n", options);
  EXPECT_EQ(log.users, Ids("yx", {0, 1, 2}));
  EXPECT_EQ(log.items, Ids("qp", {0, 1, 2}));
  EXPECT_THAT(log.user, ElementsAre(0, 1));
  EXPECT_THAT(log.item, ElementsAre(0, 1));
  EXPECT_EQ(log.below_threshold, 2);
  EXPECT_EQ(log.empty_ids, 2);
  EXPECT_EQ(log.skipped_lines, 0);
}

TEST(DelimitedLog, CountsADroppedRowOnce) {
  LogOptions options;
  options.keep_above = 3;
  options.skip_bad_lines = true;
  options.header = Header::no;
  const Interactions log = read_text(",p,x\n,p,1\na,p,1\na,p,4\n\n,,\n", options, 4);
  EXPECT_EQ(log.skipped_lines, 2);  // the first, and the last, whose value is empty
  EXPECT_EQ(log.empty_ids, 1);
  EXPECT_EQ(log.below_threshold, 1);
  EXPECT_THAT(rows_of(log), ElementsAre("a|p|4"));
}

TEST(DelimitedLog, ComparesThresholdsInDoublePrecision) {
  LogOptions options;
  options.keep_above = 0.1;
  EXPECT_EQ(read_text("a,b,0.1\na,c,0.10000000000000002\n", options).rows(), 1);
}

TEST(DelimitedLog, MarksLowRowsWhereTheyAreKept) {
  for (const std::size_t chunk : {4, 1000}) {
    const Interactions log =
        read_text("a,p,5\nb,q,0.1\na,q,0.1\nb,p,0.2\n", {.keep_above = 0.1, .keep_low = true}, chunk);
    EXPECT_THAT(rows_of(log), ElementsAre("a|p|5", "b|q|0.1", "a|q|0.1", "b|p|0.2"));
    EXPECT_THAT(log.low, ElementsAre(0, 1, 1, 0));
    EXPECT_EQ(log.below_threshold, 2);
  }
  EXPECT_TRUE(read_text("a,p,5\nb,q,0.1\n", {.keep_above = 0.1}).low.empty());
}

TEST(DelimitedLog, TakesNoTimesForValues) {
  EXPECT_THAT(rows_of(read_text("1,2,1700000000\n1,3,1700000077\n")), ElementsAre("1|2", "1|3"));
  EXPECT_THAT(rows_of(read_text("1,2,1700000000123\n1,3,978300760000\n")), ElementsAre("1|2", "1|3"));
  EXPECT_THAT(rows_of(read_text("1\t2\t978300760\n1\t3\t978300761\n")), ElementsAre("1|2", "1|3"));
  const Interactions asked = read_text("1,2,1700000000\n1,3,1700000077\n", {.columns = {"1", "2", "3"}});
  EXPECT_EQ(asked.value.size(), 2U);
  EXPECT_THAT(rows_of(read_text("1,2,3,1700000000\n1,3,4,1700000077\n")), ElementsAre("1|2|3", "1|3|4"));
  EXPECT_THAT(rows_of(read_text("1,2,3\n1,3,1700000077\n")).size(), 2U);
  EXPECT_EQ(read_text("1,2,3\n1,3,1700000077\n").value.size(), 2U);
  EXPECT_EQ(
      read_text("1,2,1700000000\n").reading,
      "csv, delimiter ',', no header, user = column 1, item = column 2, no value, unused: column 3 (Unix "
      "times; \x02"
      "columns\x03 can name it as value)");
}

TEST(DelimitedLog, FindsKnownColumnsByTheirNames) {
  EXPECT_THAT(rows_of(read_text("userId,movieId,rating,timestamp\n1,2,3.5,99\n")), ElementsAre("1|2|3.5"));
  EXPECT_THAT(rows_of(read_text("timestamp,Item-ID,user_id\n9,i,u\n")), ElementsAre("u|i"));
  EXPECT_THAT(rows_of(read_text("plays;song;user\n9;i;u\n")), ElementsAre("u|i|9"));
  EXPECT_THAT(rows_of(read_text("InvoiceNo,StockCode,Quantity,CustomerID\n5,s,6,c\n")), ElementsAre("c|s|6"));
  EXPECT_THAT(rows_of(read_text("thing,user\nt,u\n")), ElementsAre("u|t"));
}

TEST(DelimitedLog, TakesTheFirstColumnsOtherwise) {
  EXPECT_THAT(rows_of(read_text("a,b,7,9\nc,d,8,9\n")), ElementsAre("a|b|7", "c|d|8"));
  EXPECT_THAT(rows_of(read_text("a,b,x\nc,d,y\n")), ElementsAre("a|b", "c|d"));
  EXPECT_THAT(rows_of(read_text("who,what,score\n1,2,3\n")), ElementsAre("1|2|3"));
  EXPECT_THAT(rows_of(read_text("who,what,when\n1,2,3\n")), ElementsAre("1|2"));
  EXPECT_THAT(rows_of(read_text("who,what\n1,x2\n")), ElementsAre("1|x2"));
  EXPECT_THAT(rows_of(read_text("bob,x\nann,y\n")), ElementsAre("bob|x", "ann|y"));
}

TEST(DelimitedLog, TakesNoRowForAHeader) {
  EXPECT_EQ(read_text("1,2,member\n3,4,guest\n").rows(), 2);
  EXPECT_EQ(read_text("a,b,member\nc,d,member\n").rows(), 2);
  EXPECT_EQ(read_text("a,book\nc,film\n").rows(), 2);
  EXPECT_THAT(error_of("a,b,\nc,d,1\n", columns({"1", "2", "3"})).what(), HasSubstr("log:1: "));
}

TEST(DelimitedLog, ObeysTheHeaderOption) {
  LogOptions options;
  options.header = Header::yes;
  EXPECT_THAT(rows_of(read_text("1,2,3\n4,5,6\n", options)), ElementsAre("4|5"));
  options.header = Header::no;
  EXPECT_THAT(rows_of(read_text("user,item\n4,5\n", options)), ElementsAre("user|item", "4|5"));
}

TEST(DelimitedLog, TakesColumnsByName) {
  const std::string text = "when,what,who,how much\n9,i,u,2\n";
  EXPECT_THAT(rows_of(read_text(text, columns({"who", "what", "how much"}))), ElementsAre("u|i|2"));
  EXPECT_THAT(rows_of(read_text(text, columns({"who", "what"}))), ElementsAre("u|i"));
  EXPECT_THAT(rows_of(read_text(text, columns({"who", "2"}))), ElementsAre("u|i"));
  const Error error = error_of(text, columns({"who", "item"}));
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), HasSubstr("log has no column 'item'"));
  EXPECT_THAT(error.what(), HasSubstr("'when', 'what', 'who', 'how much'"));
}

TEST(DelimitedLog, TakesColumnsByNumber) {
  const std::string text = "9,i,u,2\n8,j,u,3\n";
  EXPECT_THAT(rows_of(read_text(text, columns({"3", "2", "4"}))), ElementsAre("u|i|2", "u|j|3"));
  EXPECT_THAT(rows_of(read_text(text, columns({"2", "0", "3"}))), ElementsAre("u|9|2", "u|8|3"));
  EXPECT_THAT(rows_of(read_text("a,b,c\n" + text, columns({"3", "2", "1"}))), ElementsAre("u|i|9", "u|j|8"));
  for (const auto& wrong : {columns({"1"}), columns({"1", "2", "3", "4", "5"}), columns({"1", "1"}),
                            columns({"1", "99999999999"}), columns({"1", "200000"})}) {
    EXPECT_EQ(error_of(text, wrong).kind(), ErrorKind::usage);
  }
  LogOptions headless = columns({"user", "item"});
  headless.header = Header::no;
  EXPECT_EQ(error_of(text, headless).kind(), ErrorKind::usage);
}

TEST(DelimitedLog, ReadsQuotedFields) {
  EXPECT_THAT(rows_of(read_text("\"a,b\",\"say \"\"hi\"\"\",\"3\"\n\"\",x,1\nit\"s,\"x\",2\n")),
              ElementsAre("a,b|say \"hi\"|3", "it\"s|x|2"));
  EXPECT_THAT(
      rows_of(read_text("\"a\nb\",i,1\r\n\"c\r\nd\",i,2,\"x\ny\"\r\ne,\"i\"\r\n", columns({"1", "2"}))),
      ElementsAre("a\nb|i", "c\r\nd|i", "e|i"));
  EXPECT_THAT(rows_of(read_text("\"user\",\"item\"\n\"1\",\"2\"")), ElementsAre("1|2"));
}

TEST(DelimitedLog, JoinsQuotedFieldsAcrossChunks) {
  const std::string text =
      "u1,i1,\"a\nb\nc,d\n\"\nu2,i2,x\nu3,\"i\n\n\n3\",\"\"\"\n\"\n\"u\n\"\"4\",i4,\"\"\nu5,i5,\n";
  LogOptions options = columns({"1", "2"});
  options.header = Header::no;
  const std::string expected = everything(read_text(text, options));
  EXPECT_EQ(read_text(text, options).rows(), 5);
  for (std::size_t chunk = 1; chunk < text.size() + 2; ++chunk) {
    EXPECT_EQ(everything(read_text(text, options, chunk)), expected) << chunk;
    EXPECT_EQ(everything(read_text(text, options, chunk, 3)), expected) << chunk;
  }
}

TEST(DelimitedLog, TakesLineEndsAndBlankLinesAsTheyCome) {
  const auto expected = ElementsAre("a|b|1", "c|d|2");
  EXPECT_THAT(rows_of(read_text("a,b,1\nc,d,2")), expected);
  EXPECT_THAT(rows_of(read_text("a,b,1\r\nc,d,2\r\n")), expected);
  EXPECT_THAT(rows_of(read_text("a,b,1\r\nc,d,2\r")), expected);
  EXPECT_THAT(rows_of(read_text("\n\r\na,b,1\n\n\nc,d,2\n\n", {}, 2)), expected);
  EXPECT_THAT(rows_of(read_text("\n\nuser,item,count\n\na,b,1\nc,d,2\n", {}, 2)), expected);
  EXPECT_THAT(rows_of(read_text("\xef\xbb\xbfuser,item,count\na,b,1\nc,d,2\n")), expected);
  EXPECT_THAT(rows_of(read_text(" a , b,1\n")), ElementsAre(" a | b|1"));
}

TEST(DelimitedLog, ReadsTheFixedFormats) {
  EXPECT_THAT(rows_of(read_text("1::2::3::9\n", format(LogFormat::movielens))), ElementsAre("1|2|3"));
  EXPECT_THAT(rows_of(read_text("userId,movieId,rating,timestamp\n1,2,3,9\n", format(LogFormat::movielens))),
              ElementsAre("1|2|3"));
  EXPECT_THAT(rows_of(read_text("u\ts\t5\n", format(LogFormat::triplets))), ElementsAre("u|s|5"));
  EXPECT_THAT(rows_of(read_text("n\titem\tuser\n5\ti\tu\n", format(LogFormat::triplets))),
              ElementsAre("u|i|5"));
  EXPECT_THAT(rows_of(read_text("1,2,3\n", format(LogFormat::pairs))), ElementsAre("1|2"));
  EXPECT_THAT(rows_of(read_text("uid,sid\n1,2\n", format(LogFormat::pairs))), ElementsAre("1|2"));
  EXPECT_THAT(error_of("1,2\n", format(LogFormat::triplets)).what(), HasSubstr("log:1: "));
}

TEST(DelimitedLog, NeedsValuesForAThreshold) {
  LogOptions options;
  options.keep_above = 1;
  EXPECT_EQ(error_of("user,item\na,b\n", options).kind(), ErrorKind::usage);
  options.format = LogFormat::pairs;
  EXPECT_EQ(error_of("a,b\n", options).kind(), ErrorKind::usage);
}

struct Bad {
  std::string name;
  std::string line;
  std::string says;
};

/// Names the case in reports; without it they would show the object's bytes.
void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

class BadLine : public ::testing::TestWithParam<Bad> {};

TEST_P(BadLine, IsNamedOrDropped) {
  const std::string text = "u,i,1\n\n" + GetParam().line + "\nu,j,2\n";
  LogOptions options;
  options.header = Header::no;
  for (const std::size_t chunk : {1U, 16U, 1U << 20U}) {
    const Error error = error_of(text, options, chunk);
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), HasSubstr("log:3: "));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().says));
    EXPECT_THAT(error.what(), HasSubstr("; "));
    LogOptions skipping = options;
    skipping.skip_bad_lines = true;
    const Interactions log = read_text(text, skipping, chunk);
    EXPECT_EQ(log.skipped_lines, 1);
    EXPECT_THAT(rows_of(log), ElementsAre("u|i|1", "u|j|2"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    DelimitedLog, BadLine,
    ::testing::Values(
        Bad{"one_field", "u", "1 field where 3"}, Bad{"two_fields", "u,i", "2 fields"},
        Bad{"quoted_two_fields", "\"u\",i", "2 fields"}, Bad{"no_number", "u,i,x", "'x' is not a number"},
        Bad{"empty_value", "u,i,", "'' is not a number"}, Bad{"half_number", "u,i,3x", "not a number"},
        Bad{"nan", "u,i,nan", "not finite"}, Bad{"inf", "u,i,-inf", "not finite"},
        Bad{"too_large", "u,i,1e999", "not finite"}, Bad{"beyond_float", "u,i,1e300", "not finite"},
        Bad{"nul", std::string("u,i,1,x\0", 8), "NUL"},
        Bad{"quoted_nul", std::string("\"u\0\",i,1", 8), "NUL"},
        Bad{"user_not_utf8", "\xff,i,1", "user id '\\xff' is not UTF-8"},
        Bad{"item_not_utf8", "u,\xc3,1", "item id"},
        Bad{"long_user", std::string(4097, 'u') + ",i,1", "4097 bytes"},
        Bad{"long_item", "u," + std::string(4097, 'i') + ",1", "4097 bytes"},
        Bad{"unclosed", "u,\"i,1", "never closed"}, Bad{"after_quote", "\"u\"x,i,1", "closing quote"}),
    [](const auto& info) { return info.param.name; });

TEST(DelimitedLog, AcceptsTheLongestId) {
  EXPECT_EQ(read_text(std::string(4096, 'u') + ",i,1\n").rows(), 1);
  EXPECT_EQ(read_text("u,i,1,\xff\n").rows(), 1);  // only ids need be UTF-8
}

TEST(DelimitedLog, ReportsTheFirstBadLineWhateverTheThreads) {
  std::string text;
  for (int k = 0; k < 5000; ++k) text += k % 1000 == 700 ? "u,i,bad\n" : "u,i,1\n";
  for (const int threads : {1, 2, 5}) {
    try {
      read_text(text, {}, 64, threads);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("log:701: "));
    }
  }
}

TEST(DelimitedLog, CountsPhysicalLines) {
  const std::string text = "user,item,count\n\"a\nb\",i,1\n\n\"c\n\n\",i,2\nu,i,x\n";
  for (const std::size_t chunk : {1U, 5U, 100U}) {
    EXPECT_THAT(error_of(text, {}, chunk).what(), HasSubstr("log:8: ")) << chunk;
  }
}

TEST(DelimitedLog, GivesUpOnAQuoteAfter16MiB) {
  LogOptions options;
  options.header = Header::no;
  options.skip_bad_lines = true;
  std::string text = "u,\"open,1\n";
  for (int k = 0; k < 2'500'000; ++k) text += "u,item,1\n";
  text += "u,\"last\",1\n";
  for (const std::size_t chunk : {1U << 20U, 30U << 20U}) {
    const Interactions log = read_text(text, options, chunk);
    EXPECT_EQ(log.skipped_lines, 1);
    EXPECT_EQ(log.rows(), 2'500'001);
  }
}

TEST(DelimitedLog, RefusesFilesWithoutRows) {
  for (const char* text : {"", "\n\n", "\r\n", "user,item\n", "user,item", "\xef\xbb\xbf"}) {
    const Error error = error_of(text);
    EXPECT_EQ(error.kind(), ErrorKind::input) << text;
    EXPECT_THAT(error.what(), HasSubstr("log has no data row"));
  }
  LogOptions options = columns({"user", "item", "rating"});
  options.keep_above = 1;
  for (const char* text : {"", "\n\n", "user,item,rating\n"}) {
    EXPECT_THAT(error_of(text, options).what(), HasSubstr("log has no data row"));
  }
}

}  // namespace
}  // namespace poise::testing
