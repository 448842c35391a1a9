#include "poise/data/log/chunks.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/error.hpp"

namespace poise::testing {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> cut(std::string_view text, std::size_t size) {
  logs::ChunkReader reader(logs::open_bytes(text, "log"), "log", size);
  std::vector<std::string> chunks;
  while (true) {
    logs::Chunk chunk = reader.next();
    chunks.push_back(chunk.bytes);
    if (chunk.last) return chunks;
  }
}

TEST(ChunkReader, CutsAtLineEnds) {
  EXPECT_THAT(cut("aa\nbb\ncc\n", 7), ElementsAre("aa\nbb\n", "cc\n"));
  EXPECT_THAT(cut("aa\nbb\ncc", 3), ElementsAre("aa\n", "bb\n", "cc"));
  EXPECT_THAT(cut("", 3), ElementsAre(""));
}

TEST(ChunkReader, GrowsForLongLines) {
  EXPECT_THAT(cut("a long line\nb\nc", 2), ElementsAre("a long line\n", "b\n", "c"));
  const std::string line = std::string(3'000'000, 'x') + "\n";
  EXPECT_THAT(cut(line + line + "y", 4096), ElementsAre(line, line, "y"));
}

TEST(ChunkReader, LosesNothingWhateverTheSize) {
  std::string text;
  for (int k = 0; k < 2000; ++k) text += std::string(k * 31 % 97, 'a' + k % 26) + "\n";
  for (const std::size_t size : {1U, 2U, 64U, 1000U, 65536U, 1U << 20U}) {
    std::string joined;
    for (const std::string& chunk : cut(text, size)) joined += chunk;
    EXPECT_EQ(joined, text) << size;
  }
}

TEST(ChunkReader, KnowsByteOrderMarks) {
  EXPECT_THAT(cut("\xef\xbb\xbf"
                  "a\n",
                  100),
              ElementsAre("a\n"));
  EXPECT_THROW(cut("\xff\xfe"
                   "a",
                   100),
               Error);
  EXPECT_THROW(cut("\xfe\xff"
                   "a",
                   100),
               Error);
}

TEST(ChunkReader, RefusesLinesBeyondTheLimit) {
  const std::string line(logs::ChunkReader::longest_line + 1, 'x');
  EXPECT_THROW(cut(line, 1U << 20U), Error);
}

}  // namespace
}  // namespace poise::testing
