#include "poise/data/log/byte_source.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/error.hpp"

#include "support/expect_error.hpp"
#include "support/log_data.hpp"
#include "support/test_data.hpp"

namespace poise::testing {
namespace {

using ::testing::HasSubstr;

std::string read_all(logs::ByteSource& source, std::size_t step) {
  std::string result;
  std::string buffer(step, '\0');
  while (const std::size_t count = source.read(buffer.data(), step)) result.append(buffer, 0, count);
  return result;
}

std::string read_all(std::string_view stored, std::size_t step = 1000) {
  return read_all(*logs::open_bytes(stored, "log"), step);
}

std::string some_text(std::size_t lines) {
  std::string text;
  for (std::size_t k = 0; k < lines; ++k) text += std::to_string(k * 7919 % 10007) + ",x\n";
  return text;
}

TEST(ByteSource, ReadsPlainGzipAndZstdAlike) {
  const std::string text = some_text(100'000);
  for (const std::size_t step : {1U, 777U, 1U << 20U}) {
    EXPECT_EQ(read_all(text, step), text);
    EXPECT_EQ(read_all(gzip(text), step), text);
    EXPECT_EQ(read_all(zstd(text), step), text);
  }
}

TEST(ByteSource, ReadsSeveralMembersAndFrames) {
  EXPECT_EQ(read_all(gzip("one\n") + gzip("") + gzip("two\n")), "one\ntwo\n");
  EXPECT_EQ(read_all(zstd("one\n") + zstd("") + zstd("two\n")), "one\ntwo\n");
  EXPECT_EQ(read_all(gzip("padded\n") + std::string(512, '\0')), "padded\n");
  const std::string skippable = std::string("\x50\x2a\x4d\x18\x03\x00\x00\x00", 8) + "abc";
  EXPECT_EQ(read_all(skippable + zstd("framed\n")), "framed\n");
}

TEST(ByteSource, CountsStoredBytes) {
  const std::string stored = gzip(some_text(1000));
  const auto source = logs::open_bytes(stored, "log");
  read_all(*source, 100);
  EXPECT_EQ(source->consumed(), stored.size());
}

TEST(ByteSource, RefusesTruncatedDataAtEveryLength) {
  const std::string text = some_text(300);
  for (const std::string& stored : {gzip(text), zstd(text)}) {
    for (std::size_t length = 2; length < stored.size(); ++length) {
      try {
        read_all(std::string_view(stored).substr(0, length));
        ADD_FAILURE() << "no error at length " << length;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_THAT(error.what(), HasSubstr("log"));
      }
    }
  }
}

TEST(ByteSource, RefusesCorruptDataAndTrailingGarbage) {
  for (std::string stored : {gzip(some_text(300)), zstd(some_text(300))}) {
    EXPECT_THROW(read_all(stored + "garbage"), Error);
  }
  std::string stored = gzip(some_text(300));
  stored[stored.size() - 6] ^= 1;  // the checksum
  EXPECT_THROW(read_all(stored), Error);
}

TEST(ByteSource, SaysWhatToDoAboutALargeWindow) {
  // The head of a frame that declares a window of 2 GiB (zstd --long=31).
  const std::string stored("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9);
  const std::string message = error_message(ErrorKind::input, [&] { read_all(stored); });
  EXPECT_THAT(message, HasSubstr("--long=27"));
}

TEST(ByteSource, NamesMissingFilesAndFolders) {
  const TemporaryFolder folder;
  for (const auto& path : {folder / "missing.csv", folder.path()}) {
    try {
      logs::open_bytes(path);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
    }
  }
}

}  // namespace
}  // namespace poise::testing
