#include "poise/data/log_format.hpp"

#include <string>

#include <gtest/gtest.h>

#include "poise/base/error.hpp"
#include "poise/data/log_reader.hpp"

#include "support/log_data.hpp"
#include "support/test_data.hpp"

namespace poise::testing {
namespace {

LogFormat detect(const std::string& name, std::string_view text) {
  const TemporaryFolder folder;
  write_file(folder / name, text);
  return detect_log_format({folder / name});
}

TEST(LogFormat, ParsesNames) {
  EXPECT_EQ(parse_log_format("auto"), LogFormat::automatic);
  EXPECT_EQ(parse_log_format("csv"), LogFormat::csv);
  EXPECT_EQ(parse_log_format("movielens"), LogFormat::movielens);
  EXPECT_EQ(parse_log_format("netflix"), LogFormat::netflix);
  EXPECT_EQ(parse_log_format("triplets"), LogFormat::triplets);
  EXPECT_EQ(parse_log_format("pairs"), LogFormat::pairs);
  EXPECT_EQ(parse_log_format("adjacency"), LogFormat::adjacency);
  EXPECT_EQ(parse_log_format("pro-sg"), LogFormat::pro_sg);
  try {
    parse_log_format("CSV");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

TEST(LogFormat, IsFoundFromNamesAndFirstBytes) {
  EXPECT_EQ(detect("ratings.csv", "userId,movieId,rating,timestamp\n1,2,3.5,9\n"), LogFormat::movielens);
  EXPECT_EQ(detect("ratings.csv.gz", gzip("userId,movieId,rating,timestamp\r\n1,2,3.5,9\n")),
            LogFormat::movielens);
  EXPECT_EQ(detect("ratings.csv", "user,item,rating\n1,2,3.5\n"), LogFormat::csv);
  EXPECT_EQ(detect("ratings.dat", "1::2::3::9\n2::2::3::9\n"), LogFormat::movielens);
  EXPECT_EQ(detect("other.dat", "1::2::3::9\n"), LogFormat::csv);
  EXPECT_EQ(detect("mv_0000001.txt", "1:\n7,3,2005-09-06\n"), LogFormat::netflix);
  EXPECT_EQ(detect("anything", zstd("\xef\xbb\xbf"
                                    "1:\r\n7,3,2005-09-06\r\n")),
            LogFormat::netflix);
  EXPECT_EQ(detect("train_triplets.txt", "b80344d0\tSOAKIMP\t1\nb80344d0\tSOAPDEY\t12\n"),
            LogFormat::triplets);
  EXPECT_EQ(detect("log.tsv", "user\titem\tplays\na\tb\t1\n"), LogFormat::csv);
  EXPECT_EQ(detect("log.tsv", "1\t2\t1700000000\n1\t3\t1700000001\n"), LogFormat::csv);
  EXPECT_EQ(detect("log.tsv", "a\tb\t1.5\n"), LogFormat::csv);
  EXPECT_EQ(detect("train.txt", "0 1 2 3\n1 4\n2 5 6\n"), LogFormat::adjacency);
  EXPECT_EQ(detect("train.txt", "0 1\n1 4\n2 5\n"), LogFormat::csv);
  EXPECT_EQ(detect("log.csv", "user,item,title\n1,2,A Title\n2,2,Title\n"), LogFormat::csv);
  EXPECT_EQ(detect("log.tsv", "1\t2\tA Title\n2\t2\tTitle\n"), LogFormat::csv);
  EXPECT_EQ(detect("log.dat", "1::2::A Title\n2::2::Title\n"), LogFormat::csv);
  EXPECT_EQ(detect("empty", ""), LogFormat::csv);
}

TEST(LogFormat, IsFoundForFolders) {
  const TemporaryFolder netflix;
  write_file(netflix / "mv_0000001.txt", "1:\n");
  EXPECT_EQ(detect_log_format({netflix.path()}), LogFormat::netflix);
  const TemporaryFolder split;
  write_file(split / "train.csv", "uid,sid\n0,0\n");
  write_file(split / "unique_sid.txt", "a\n");
  EXPECT_EQ(detect_log_format({split.path()}), LogFormat::pro_sg);
  EXPECT_THROW(read_log({split.path()}, {}, {}), Error);
  const TemporaryFolder empty;
  EXPECT_THROW(detect_log_format({empty.path()}), Error);
}

TEST(LogFormat, YieldsToColumnsAskedFor) {
  const TemporaryFolder folder;
  write_file(folder / "log", "u i 3 extra\nu j 4\n");
  ASSERT_EQ(detect_log_format({folder / "log"}), LogFormat::adjacency);
  const LogOptions options{.columns = {"1", "2", "3"}, .delimiter = " "};
  EXPECT_EQ(read_log({folder / "log"}, options, {}).value, (std::vector<float>{3, 4}));
}

TEST(LogFormat, IsResolvedForReaderAndCallerAlike) {
  const TemporaryFolder folder;
  write_file(folder / "trip.tsv", "1\t2\t3\n2\t2\t3\n");
  write_file(folder / "ratings.csv", "userId,movieId,rating,timestamp\n1,2,3,9\n1,3,4,9\n");
  write_file(folder / "adjacency", "u i 3 extra\nu j 4\n");
  EXPECT_EQ(resolve_log_format({folder / "trip.tsv"}, {}), LogFormat::triplets);
  EXPECT_EQ(resolve_log_format({folder / "trip.tsv"}, {.columns = {"1", "2"}}), LogFormat::csv);
  EXPECT_EQ(resolve_log_format({folder / "ratings.csv"}, {}), LogFormat::movielens);
  EXPECT_EQ(resolve_log_format({folder / "adjacency"}, {.delimiter = " "}), LogFormat::csv);
  EXPECT_EQ(resolve_log_format({folder / "adjacency"}, {.format = LogFormat::pairs}), LogFormat::pairs);
  // What the program does: resolve, then read with the format that came out.
  LogOptions options{.columns = {"userId", "movieId"}};
  options.format = resolve_log_format({folder / "ratings.csv"}, options);
  options.keep_above = usual_threshold(options);
  EXPECT_EQ(read_log({folder / "ratings.csv"}, options, {}).rows(), 2);
}

TEST(LogFormat, HasItsUsualThresholdOnlyWithValues) {
  EXPECT_EQ(usual_threshold({.format = LogFormat::movielens}), 3.5);
  EXPECT_EQ(usual_threshold({.format = LogFormat::movielens, .columns = {"a", "b", "c"}}), 3.5);
  EXPECT_EQ(usual_threshold({.format = LogFormat::movielens, .columns = {"a", "b"}}), std::nullopt);
  EXPECT_EQ(usual_threshold({.format = LogFormat::netflix}), 3.5);
  for (const LogFormat format : {LogFormat::csv, LogFormat::triplets, LogFormat::pairs, LogFormat::adjacency})
    EXPECT_EQ(usual_threshold({.format = format}), std::nullopt);
}

TEST(LogFormat, IsSaidWithTheColumns) {
  EXPECT_EQ(read_text("userId,movieId,rating,timestamp\n1,2,3,9\n").reading,
            "csv, delimiter ',', header, user = column 1 (userId), item = column 2 (movieId), "
            "value = column 3 (rating), unused: column 4 (timestamp)");
  EXPECT_EQ(read_text("1\t2\n3\t4\n", {.columns = {"2", "1"}}).reading,
            "csv, delimiter '\\t', no header, user = column 2, item = column 1, no value");
  EXPECT_EQ(read_text("1 2 3 4 5 6 7 8 9\n2 3 4 5 6 7 8 9 1\n", {.keep_above = 1}).reading,
            "csv, delimiter ' ', no header, user = column 1, item = column 2, value = column 3, rows with a "
            "value above 1, unused: column 4, column 5, column 6, column 7, column 8 and 1 more");
  EXPECT_EQ(read_text("a\x1b[1m,item\n1,2\n", {.header = Header::yes}).reading,
            "csv, delimiter ',', header, user = column 1 (a\\x1b[1m), item = column 2 (item), no value");
  EXPECT_EQ(read_text("1:\n7,3\n", {.format = LogFormat::netflix, .keep_above = 2.5}).reading,
            "netflix, lines 'movie:' and under each lines 'user,rating', rows with a rating above 2.5");
  EXPECT_EQ(read_text("u i j\n", {.format = LogFormat::adjacency}).reading,
            "adjacency, lines 'user item item ...', no value");
  const TemporaryFolder folder;
  write_file(folder / "a", "1,2,3\n2,2,3\n");
  write_file(folder / "b", "1,2,3\n");
  write_file(folder / "c", "1;2;3\n");
  const std::string reading = read_log({folder / "a", folder / "b", folder / "c"}, {}, {}).reading;
  EXPECT_EQ(reading.find("/b"), std::string::npos) << reading;
  EXPECT_NE(reading.find("; from " + (folder / "c").string() + " on csv, delimiter ';'"), std::string::npos)
      << reading;
}

}  // namespace
}  // namespace poise::testing
