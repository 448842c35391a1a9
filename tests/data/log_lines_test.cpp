#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/log_data.hpp"

namespace poise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LogOptions netflix() {
  LogOptions options;
  options.format = LogFormat::netflix;
  return options;
}

LogOptions adjacency() {
  LogOptions options;
  options.format = LogFormat::adjacency;
  return options;
}

TEST(NetflixLog, PutsRatingsUnderTheirMovies) {
  const std::string text = "1:\n7,3,2005-09-06\n8,5\n\n2:\r\n7,4,2005-09-06\r\n3:\n4:\n8,1.5,\n";
  for (std::size_t chunk = 1; chunk < text.size() + 2; ++chunk) {
    EXPECT_THAT(rows_of(read_text(text, netflix(), chunk, 2)),
                ElementsAre("7|1|3", "8|1|5", "7|2|4", "8|4|1.5"))
        << chunk;
  }
}

TEST(NetflixLog, KeepsRowsAboveTheThreshold) {
  LogOptions options = netflix();
  options.keep_above = 3.5;
  for (const std::size_t chunk : {1U, 8U, 100U}) {
    const Interactions log = read_text("1:\n7,3\n8,3\n2:\n9,4\n,5\n7,5\n", options, chunk);
    EXPECT_THAT(rows_of(log), ElementsAre("9|2|4", "7|2|5"));
    EXPECT_EQ(log.items.size(), 1);
    EXPECT_EQ(log.below_threshold, 2);
    EXPECT_EQ(log.empty_ids, 1);
  }
}

TEST(NetflixLog, RefusesRatingsWithoutAMovie) {
  const std::string text = "\n7,3,x\n8,y\n1:\n7,3,x\n";
  LogOptions skipping = netflix();
  skipping.skip_bad_lines = true;
  for (const std::size_t chunk : {1U, 5U, 9U, 100U}) {
    EXPECT_THAT(error_of(text, netflix(), chunk).what(), HasSubstr("log:2: a rating stands before any"));
    const Interactions log = read_text(text, skipping, chunk);
    EXPECT_EQ(log.skipped_lines, 2);
    EXPECT_THAT(rows_of(log), ElementsAre("7|1|3"));
  }
}

TEST(NetflixLog, LosesTheMovieAfterABadMovieLine) {
  const std::string text = "1:\n7,3\n\xff:\n8,3\n9,3\n2:\n7,3\n";
  LogOptions skipping = netflix();
  skipping.skip_bad_lines = true;
  for (const std::size_t chunk : {1U, 5U, 100U}) {
    EXPECT_THAT(error_of(text, netflix(), chunk).what(), HasSubstr("log:3: the item id"));
    const Interactions log = read_text(text, skipping, chunk);
    EXPECT_EQ(log.skipped_lines, 3);
    EXPECT_THAT(rows_of(log), ElementsAre("7|1|3", "7|2|3"));
  }
}

TEST(NetflixLog, DropsRatingsOfAMovieWithoutId) {
  for (const std::size_t chunk : {1U, 100U}) {
    const Interactions log = read_text("1:\n7,3\n:\n8,3\n9,3\n", netflix(), chunk);
    EXPECT_EQ(log.empty_ids, 2);
    EXPECT_THAT(rows_of(log), ElementsAre("7|1|3"));
  }
}

TEST(NetflixLog, NamesBadLines) {
  LogOptions skipping = netflix();
  skipping.skip_bad_lines = true;
  for (const std::string line : {"7", "7,x", "7,", "7,nan", "\xff,3", "7,2:"}) {
    const std::string text = "1:\n7,3\n" + line + "\n8,4\n";
    EXPECT_THAT(error_of(text, netflix(), 4).what(), HasSubstr("log:3: ")) << line;
    const Interactions log = read_text(text, skipping, 4);
    EXPECT_EQ(log.skipped_lines, 1) << line;
    EXPECT_THAT(rows_of(log), ElementsAre("7|1|3", "8|1|4"));
  }
  EXPECT_THAT(error_of(std::string("1:\n7,3\0\n", 8), netflix()).what(),
              HasSubstr("log:2: the line holds a NUL"));
  LogOptions options = netflix();
  options.columns = {"1", "2"};
  EXPECT_EQ(error_of("1:\n7,3\n", options).kind(), ErrorKind::usage);
}

TEST(AdjacencyLog, ReadsUsersWithTheirItems) {
  const std::string text = "u1 i1 i2\n\nu2\ti1  i3 \r\nu3\nu4 i4";
  for (std::size_t chunk = 1; chunk < text.size() + 2; ++chunk) {
    const Interactions log = read_text(text, adjacency(), chunk, 2);
    EXPECT_THAT(rows_of(log), ElementsAre("u1|i1", "u1|i2", "u2|i1", "u2|i3", "u4|i4"));
    EXPECT_EQ(log.users.size(), 3);
    EXPECT_THAT(log.value, IsEmpty());
  }
}

TEST(AdjacencyLog, RefusesABadLineAsAWhole) {
  LogOptions skipping = adjacency();
  skipping.skip_bad_lines = true;
  for (const std::string& line : {std::string("u i1 \xff"), std::string("\xff i1"), std::string("u i\0", 4),
                                  "u i1 " + std::string(4097, 'i'), std::string(4097, 'u')}) {
    const std::string text = "a x\n" + line + "\nb y\n";
    EXPECT_THAT(error_of(text, adjacency(), 3).what(), HasSubstr("log:2: "));
    const Interactions log = read_text(text, skipping, 3);
    EXPECT_EQ(log.skipped_lines, 1);
    EXPECT_THAT(rows_of(log), ElementsAre("a|x", "b|y"));
  }
  LogOptions options = adjacency();
  options.keep_above = 1;
  EXPECT_EQ(error_of("a b\n", options).kind(), ErrorKind::usage);
  EXPECT_THAT(error_of(" \n\t\n", adjacency()).what(), HasSubstr("no data row"));
}

}  // namespace
}  // namespace poise::testing
