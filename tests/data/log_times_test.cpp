#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/log_data.hpp"

namespace poise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Columns = std::vector<std::string>;

constexpr std::int64_t second = 1'000'000;

LogOptions timed(LogFormat format = LogFormat::csv, Columns columns = {}) {
  LogOptions options;
  options.format = format;
  options.columns = std::move(columns);
  options.times = true;
  return options;
}

TEST(LogTimes, ColumnsWithKnownNames) {
  for (const char* name : {"timestamp", "Date", "created_at", "unixReviewTime", "Invoice Date", "ts"}) {
    const Interactions log =
        read_text(fmt::format("{},user,item,rating\n1000,a,x,4\n2000,b,y,5\n", name), timed());
    EXPECT_THAT(log.time, ElementsAre(1000 * second, 2000 * second)) << name;
    EXPECT_THAT(log.value, ElementsAre(4, 5));
    EXPECT_THAT(log.reading, HasSubstr("time = column 1"));
  }
  // Of several, the one whose texts are times.
  EXPECT_THAT(read_text("user,item,date,timestamp\na,x,\"09 13, 2009\",1252800000\n", timed()).time,
              ElementsAre(1'252'800'000 * second));
}

TEST(LogTimes, AKnownNameComesBeforeAColumnThatHoldsTimes) {
  EXPECT_THAT(read_text("user,item,born,ts\na,x,1970-01-01,1000\n", timed()).time,
              ElementsAre(1000 * second));
  EXPECT_EQ(error_of("user,item,born\na,x,1970-01-01\n", timed()).kind(), ErrorKind::usage);
}

TEST(LogTimes, ColumnsWithoutNames) {
  EXPECT_THAT(read_text("1\t2\t3\t881250949\n4\t5\t6\t891717742\n", timed()).time,
              ElementsAre(881'250'949 * second, 891'717'742 * second));
  EXPECT_THAT(read_text("1::2::3::978300760\n", timed(LogFormat::movielens)).time,
              ElementsAre(978'300'760 * second));
  const Interactions pairs = read_text("a,x,2011-01-01\nb,y,2011-01-02\n", timed());
  EXPECT_TRUE(pairs.value.empty());
  EXPECT_THAT(pairs.time, ElementsAre(1'293'840'000 * second, 1'293'926'400 * second));
}

TEST(LogTimes, ColumnsThatAreAskedFor) {
  const std::string text = "who,what,n,when\na,x,2,1970-01-02\nb,y,3,1970-01-03\n";
  const Interactions named = read_text(text, timed(LogFormat::csv, {"who", "what", "n", "when"}));
  EXPECT_THAT(named.time, ElementsAre(86'400 * second, 172'800 * second));
  EXPECT_THAT(named.value, ElementsAre(2, 3));
  for (const Columns& columns :
       {Columns{"who", "what", "", "when"}, Columns{"1", "2", "", "4"}, Columns{"0", "1", "", "3"}}) {
    LogOptions options = timed(LogFormat::csv, columns);
    options.header = Header::yes;
    const Interactions log = read_text(text, options);
    EXPECT_EQ(log.time, named.time);
    EXPECT_TRUE(log.value.empty());
  }
  // Without a split in time the column is not read: it may hold anything.
  LogOptions untimed = timed(LogFormat::csv, {"1", "2", "3", "4"});
  untimed.times = false;
  EXPECT_TRUE(read_text("a,b,1,never\n", untimed).time.empty());
}

TEST(LogTimes, AskedForInVain) {
  const auto refused = [](std::string_view text, const LogOptions& options, std::string_view part) {
    const Error error = error_of(text, options);
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr(part));
  };
  refused("user,item,rating\na,x,1\n", timed(), "has no column of times");
  refused("a,x,1\n", timed(), "has no column of times");
  refused("{\"user\":1,\"item\":2}\n", timed(LogFormat::json_lines), "has no column of times");
  refused("1 2 3\n", timed(LogFormat::adjacency), "has no times");
  refused("a,x,1,2\n", timed(LogFormat::csv, {"1", "2", "4", "4"}), "given twice");
  refused("a,x,1,2\n", timed(LogFormat::csv, {"1", "", "3", "4"}), "has no name");
  refused("a,x,1,2\n", timed(LogFormat::csv, {"1", "2", ""}), "has no name");
  refused("a,x,1,2\n", timed(LogFormat::csv, {"1", "2", "3", "4", "5"}), "5 columns");
  refused("a,x,1,2\n", timed(LogFormat::triplets, {"1", "2", "", "4"}), "has a value column");
  EXPECT_THAT(error_of("user,item\na,x\n", timed(LogFormat::csv, {"user", "item", "", "when"})).what(),
              HasSubstr("no column 'when'"));
}

TEST(LogTimes, BadTimesAreBadLines) {
  const std::string text = "user,item,time\na,x,2011-01-01\nb,y,01/02/2011\nc,z,\nd,x,2011-01-03\n";
  EXPECT_THAT(error_of(text, timed()).what(),
              HasSubstr("log:3: the time '01/02/2011' can be read as day/month"));
  LogOptions skip = timed();
  skip.skip_bad_lines = true;
  const Interactions log = read_text(text, skip);
  EXPECT_EQ(log.skipped_lines, 2);
  EXPECT_EQ(log.time.size(), 2);
  EXPECT_THAT(error_of("user,item,time\na,x,2011-01-01\nb,y\n", timed()).what(),
              HasSubstr("log:3: the line has 2 fields"));
}

TEST(LogTimes, Netflix) {
  const std::string text = "1:\n5,3,2005-09-06\n6,4,2005-09-07\n2:\n5,5,1999-12-31\n";
  const Interactions log = read_text(text, timed(LogFormat::netflix));
  EXPECT_THAT(log.time, ElementsAre(1'125'964'800 * second, 1'126'051'200 * second, 946'598'400 * second));
  EXPECT_EQ(read_text(text, timed(LogFormat::netflix), 5).time, log.time);
  EXPECT_THAT(error_of("1:\n5,3\n", timed(LogFormat::netflix)).what(),
              HasSubstr("log:2: the time '' is empty"));
  LogOptions untimed = timed(LogFormat::netflix);
  untimed.times = false;
  EXPECT_TRUE(read_text("1:\n5,3,never\n", untimed).time.empty());
}

TEST(LogTimes, JsonLines) {
  const std::string text =
      "{\"user\":1,\"item\":2,\"timestamp\":1000}\n{\"timestamp\":\"1970-01-01T00:00:02.5Z\",\"user\":1,"
      "\"item\":3}\n"
      "{\"user\":1,\"item\":2,\"timestamp\":1.5}\n";
  EXPECT_THAT(read_text(text, timed(LogFormat::json_lines)).time,
              ElementsAre(1000 * second, 2'500'000, 1'500'000));
  EXPECT_THAT(read_text(text, timed(LogFormat::json_lines, {"user", "item", "", "timestamp"})).time.size(),
              3);
  EXPECT_THAT(error_of("{\"user\":1,\"item\":2,\"timestamp\":1}\n{\"user\":1,\"item\":2}\n",
                       timed(LogFormat::json_lines))
                  .what(),
              HasSubstr("log:2: the object has no field 'timestamp'"));
  EXPECT_THAT(error_of("{\"user\":1,\"item\":2,\"timestamp\":null}\n", timed(LogFormat::json_lines)).what(),
              HasSubstr("the time, field 'timestamp', is no number or text"));
}

TEST(LogTimes, TwoUnitsInOneLogAreRefused) {
  std::string text = "user,item,time\n";
  for (int k = 0; k < 50; ++k) text += fmt::format("u{},x,{}\n", k, 1'300'000'000 + k);
  text += "v,x,0\nv,y,1970-01-01\n";  // these show no unit
  EXPECT_EQ(read_text(text, timed()).time.size(), 52);
  text += "w,x,1300000000000\nw,y,1300000000\n";
  for (const std::size_t chunk : {std::size_t{1} << 20U, std::size_t{1}, std::size_t{40}})
    for (const bool skip : {false, true}) {
      LogOptions options = timed();
      options.skip_bad_lines = skip;
      EXPECT_THAT(error_of(text, options, chunk).what(),
                  HasSubstr("log:54: the time counts milliseconds by its size, and those before it seconds"));
    }
  LogOptions said = timed();
  said.time_unit = TimeUnit::milliseconds;
  EXPECT_EQ(read_text(text, said).time.back(), 1'300'000'000'000);
}

TEST(LogTimes, ChunksAndThreadsDoNotMatter) {
  std::string text = "user,item,rating,time\n";
  for (int k = 0; k < 2000; ++k)
    text += fmt::format("{}u{}\",i{},{},{}\n", "\"", k % 37, k % 101, k % 5 + 1,
                        1'000'000'000 + (k * 7919) % 5000);
  LogOptions options = timed();
  options.keep_above = 2;
  const Interactions whole = read_text(text, options);
  EXPECT_EQ(whole.time.size(), whole.user.size());
  for (const std::size_t chunk : {1, 50, 4096})
    for (const int threads : {1, 4}) {
      const Interactions log = read_text(text, options, chunk, threads);
      EXPECT_EQ(log.time, whole.time);
      EXPECT_EQ(everything(log), everything(whole));
    }
}

TEST(LogTimes, DroppedRowsHaveNoTimes) {
  const Interactions log = [&] {
    LogOptions options = timed();
    options.keep_above = 3;
    return read_text("user,item,rating,time\na,x,5,1\n,y,5,2\nb,y,1,3\nb,z,4,4\n", options);
  }();
  EXPECT_THAT(log.time, ElementsAre(second, 4 * second));
}

}  // namespace
}  // namespace poise::testing
