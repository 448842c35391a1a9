#include "poise/storage/atomic_file.hpp"

#include <cstdlib>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "poise/base/parallel.hpp"

#include "support/expect_error.hpp"
#include "support/file_size_limit.hpp"
#include "support/test_data.hpp"

namespace poise {
namespace {

using testing::error_message;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

/// The number of a process that has ended.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST(AtomicFile, AppearsWholeOnCommit) {
  const TemporaryFolder folder;
  testing::write_file(folder / "target", "old");
  {
    AtomicFile file(folder / "target");
    file.write("new ");
    file.write("content");
    EXPECT_EQ(testing::read_file(folder / "target"), "old");
    file.commit();
    EXPECT_EQ(testing::read_file(folder / "target"), "new content");
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"target"});
}

/// Parts that begin and end anywhere, from several threads, past the cache where the file system can.
TEST(AtomicFile, PartsPastTheCache) {
  const TemporaryFolder folder;
  std::string text(std::size_t{9} << 20, ' ');
  for (std::size_t k = 0; k < text.size(); ++k) text[k] = static_cast<char>('a' + (k * k + k / 4096) % 26);
  for (const std::int64_t part : {100'000, 4096, 9000, 5'000'001}) {
    AtomicFile file(folder / "target", true);
    file.reserve(text.size());
    const Tiling tiling{static_cast<std::int64_t>(text.size()) - 77, part};
    const auto bytes = std::as_bytes(std::span(text));
    for_each_tile(tiling.tiles(), 3, [&](std::int64_t tile) {
      const std::int64_t first = 77 + tiling.first(tile);
      file.write_at(first, bytes.subspan(first, tiling.last(tile) - tiling.first(tile)));
    });
    file.write_at(0, bytes.first(77));
    file.commit();
    EXPECT_TRUE(testing::read_file(folder / "target") == text) << part;
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"target"});
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  testing::write_file(folder / "target", "old");
  const auto interrupted = [&] {
    AtomicFile file(folder / "target");
    file.write("half");
    EXPECT_EQ(names_in(folder.path()).size(), 2U);
    fail(ErrorKind::interrupted, "interrupted");
  };
  error_message(ErrorKind::interrupted, interrupted);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"target"});
  EXPECT_EQ(testing::read_file(folder / "target"), "old");
}

TEST(AtomicFile, TwoForOneTargetDoNotMeet) {
  const TemporaryFolder folder;
  AtomicFile first(folder / "target");
  AtomicFile second(folder / "target");
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(testing::read_file(folder / "target"), "first");
  EXPECT_EQ(names_in(folder.path()).size(), 1U);
}

TEST(AtomicFile, AFullDiskLeavesNothing) {
  const TemporaryFolder folder;
  const std::string message = error_message(ErrorKind::resources, [&] {
    const testing::FileSizeLimit limit(1000);
    AtomicFile file(folder / "target");
    file.write(std::string(5000, 'x'));
  });
  EXPECT_THAT(message, HasSubstr((folder / "target").string()));
  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(AtomicFile, ThreadsWriteAtTheirPlaces) {
  const TemporaryFolder folder;
  const std::string text = "0123456789abcdefghijklmnopqrstuvwxyz";
  for (const bool reserved : {false, true}) {
    AtomicFile file(folder / "target");
    if (reserved) file.reserve(text.size());
    for_each_tile(9, 3, [&](std::int64_t tile) {
      const std::int64_t at = 4 * (8 - tile);
      file.write_at(at, std::as_bytes(std::span(text).subspan(at, 4)));
    });
    file.commit();
    EXPECT_EQ(testing::read_file(folder / "target"), text);
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"target"});
}

TEST(AtomicFile, AThreadThatCannotWriteIsReported) {
  const TemporaryFolder folder;
  const std::string text(1000, 'x');
  const std::string message = error_message(ErrorKind::resources, [&] {
    const testing::FileSizeLimit limit(5000);
    AtomicFile file(folder / "target");
    for_each_tile(10, 4,
                  [&](std::int64_t tile) { file.write_at(1000 * tile, std::as_bytes(std::span(text))); });
    file.commit();
  });
  EXPECT_THAT(message, HasSubstr((folder / "target").string()));
  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(AtomicFile, RoomThatIsNotThereIsNoticedAtOnce) {
  const TemporaryFolder folder;
  const std::string message = error_message(ErrorKind::resources, [&] {
    const testing::FileSizeLimit limit(1 << 20);
    AtomicFile file(folder / "target");
    file.reserve(std::uint64_t{1} << 40);
  });
  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(AtomicFile, NamesPathAndReasonWhenTheTargetCannotBeWritten) {
  const TemporaryFolder folder;
  testing::write_file(folder / "file", "");
  const auto message_for = [](const std::filesystem::path& path) {
    return error_message(ErrorKind::resources, [&] { AtomicFile file(path); });
  };
  EXPECT_THAT(message_for(folder / "file/target"), HasSubstr("Not a directory"));
  EXPECT_THAT(message_for(folder / "missing/target"), HasSubstr("No such file or directory"));
  EXPECT_THAT(message_for(folder.path()), HasSubstr("not a regular file"));
  EXPECT_THAT(message_for("/dev/null"), HasSubstr("not a regular file"));
  EXPECT_THAT(message_for(""), HasSubstr("not a file name"));
}

TEST(AtomicFile, RemovesWhatKilledProcessesLeftForTheSameTarget) {
  const TemporaryFolder folder;
  const std::string dead = std::to_string(dead_process());
  const std::string stale = ".target." + dead + "-0.partial";
  const std::vector<std::string> kept = {".other." + dead + "-0.partial", ".target." + dead + ".partial",
                                         ".target.-0.partial", ".target.x-0.partial",
                                         ".target." + std::to_string(::getppid()) + "-0.partial"};
  testing::write_file(folder / stale, "half");
  for (const std::string& name : kept) testing::write_file(folder / name, "half");
  AtomicFile(folder / "target").commit();
  EXPECT_FALSE(std::filesystem::exists(folder / stale));
  for (const std::string& name : kept) EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
}

TEST(AtomicFile, KeepsAFileThatItsWriterStillHolds) {
  const TemporaryFolder folder;
  const auto held = folder / (".target." + std::to_string(dead_process()) + "-0.partial");
  testing::write_file(held, "half");
  const int descriptor = ::open(held.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  AtomicFile(folder / "target").commit();
  EXPECT_TRUE(std::filesystem::exists(held));
  ::close(descriptor);
}

TEST(AtomicFile, AKilledProcessLeavesTheOldTarget) {
  const TemporaryFolder folder;
  testing::write_file(folder / "target", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(folder / "target");
    file.write("half");
    ::_exit(0);  // no destructor runs
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(testing::read_file(folder / "target"), "old");
  EXPECT_EQ(names_in(folder.path()).size(), 2U);
  AtomicFile file(folder / "target");
  file.write("new");
  file.commit();
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"target"});
}

}  // namespace
}  // namespace poise
