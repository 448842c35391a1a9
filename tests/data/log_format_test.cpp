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

}  // namespace
}  // namespace poise::testing
