#include "poise/data/log_reader.hpp"

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/expect_error.hpp"
#include "support/log_data.hpp"
#include "support/test_data.hpp"

namespace poise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Paths = std::vector<std::filesystem::path>;

Error file_error(const Paths& inputs, const LogOptions& options = {}) {
  try {
    read_log(inputs, options, {});
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ErrorKind::numerical, "none"};
}

/// A log with everything in it: quotes with line ends, bad lines, empty ids, long lines, any line end.
std::string random_log(std::uint64_t seed) {
  std::uint64_t state = seed;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33U) % below;
  };
  std::string text = seed % 2 == 0 ? "user,item,rating\n" : "";
  for (int k = 0; k < 400; ++k) {
    std::string user = draw(15) == 0 ? "" : fmt::format("u{}", draw(30));
    if (draw(20) == 0) user = fmt::format("\"quoted\n{}\"\"\"", user);
    if (draw(60) == 0) user = fmt::format("\"wrong\"{}", user);
    if (draw(90) == 0) user = fmt::format("\"open{}", user);
    if (draw(80) == 0) user += '\xff';
    const std::string item = fmt::format(fmt::runtime(draw(10) == 0 ? "\"i,\r\n\n{}\"" : "{}"), draw(50));
    text += user + "," + item + "," + (draw(40) == 0 ? "x" : std::to_string(draw(6)));
    if (draw(30) == 0) text.append(",").append(draw(300), 'z');
    text += draw(5) == 0 ? "\r\n" : "\n";
    if (draw(30) == 0) text += "\n";
  }
  return text;
}

TEST(ReadLog, GivesTheSameWhateverTheThreadsAndChunks) {
  LogOptions options;
  options.keep_above = 1;
  options.columns = {"1", "2", "3"};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const std::string text = random_log(seed);
    options.skip_bad_lines = true;
    const std::string expected = everything(read_text(text, options));
    options.skip_bad_lines = false;
    const std::string message = error_of(text, options).what();
    for (const std::size_t chunk : {5U, 50U, 333U, 4096U}) {
      EXPECT_EQ(error_of(text, options, chunk).what(), message) << seed << " " << chunk;
    }
    options.skip_bad_lines = true;
    for (const int threads : {1, 2, 5}) {
      for (const std::size_t chunk : {30U, 333U, 4096U}) {
        EXPECT_EQ(everything(read_text(text, options, chunk, threads)), expected) << seed << " " << chunk;
      }
    }
  }
}

TEST(ReadLog, ReadsSeveralFilesAsOne) {
  const TemporaryFolder folder;
  write_file(folder / "a.csv", "user,item,rating\nu,i,1");
  write_file(folder / "b.csv.gz", gzip("user,item,rating\nv,i,2\n"));
  write_file(folder / "c.zst", zstd("u;j;3\n"));
  const Interactions log = read_log({folder / "a.csv", folder / "b.csv.gz", folder / "c.zst"}, {}, {});
  EXPECT_THAT(rows_of(log), ElementsAre("u|i|1", "v|i|2", "u|j|3"));
  write_file(folder / "d.csv", "user,item\nu,i\n");
  EXPECT_THAT(file_error({folder / "a.csv", folder / "d.csv"}).what(),
              HasSubstr("d.csv, only one has a value"));
  write_file(folder / "e.csv", "user,item,rating\n\nu,i,x\n");
  EXPECT_THAT(file_error({folder / "a.csv", folder / "e.csv"}).what(), HasSubstr("e.csv:3: "));
}

TEST(ReadLog, RefusesMissingEmptyAndCompressedHalfFiles) {
  const TemporaryFolder folder;
  write_file(folder / "good.csv", "u,i,1\n");
  write_file(folder / "empty.csv", "");
  std::string text;
  for (int k = 0; k < 2000; ++k) text += std::to_string(k * k % 1013) + "," + std::to_string(k % 7) + ",1\n";
  for (const std::string& stored : {gzip(text), zstd(text)}) {
    for (std::size_t length = 0; length < stored.size(); length += 1 + length / 10) {
      write_file(folder / "half", std::string_view(stored).substr(0, length));
      const Error error = file_error({folder / "good.csv", folder / "half"});
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_THAT(error.what(), HasSubstr((folder / "half").string()));
    }
  }
  for (const char* name : {"missing.csv", "empty.csv", "."}) {
    for (const LogFormat format :
         {LogFormat::automatic, LogFormat::csv, LogFormat::netflix, LogFormat::adjacency}) {
      LogOptions options;
      options.format = format;
      EXPECT_EQ(file_error({folder / name}, options).kind(), ErrorKind::input) << name;
      EXPECT_THAT(file_error({folder / name}, options).what(), HasSubstr(folder.path().string())) << name;
    }
  }
  EXPECT_EQ(file_error({}).kind(), ErrorKind::usage);
}

TEST(ReadLog, ReadsNetflixFoldersByName) {
  const TemporaryFolder folder;
  for (int k = 300; k > 0; --k) {
    write_file(folder / fmt::format("mv_{:07}.txt", k),
               fmt::format("{}:\n{},4,2005-01-01\n7,3,2005-01-01\n", k, 1000 + k));
  }
  write_file(folder / "mv_0000301.txt.gz", gzip("301:\n9,5\n"));
  write_file(folder / "README", "not a log");
  Execution execution;
  execution.threads = 2;
  const Interactions log = read_log({folder.path()}, {}, execution);
  EXPECT_EQ(log.rows(), 601);
  EXPECT_EQ(log.items.size(), 301);
  EXPECT_EQ(log.items[41], "42");
  EXPECT_EQ(log.items[300], "301");
  EXPECT_EQ(log.users[0], "1001");
}

TEST(ReadLog, NetflixMoviesEndWithTheirFile) {
  const TemporaryFolder folder;
  write_file(folder / "combined_data_1.txt", "1:\n7,3\n");
  write_file(folder / "combined_data_2.txt", "7,3\n");
  EXPECT_THAT(file_error({folder.path()}).what(), HasSubstr("combined_data_2.txt:1: "));
}

class Stopper : public Observer {
 public:
  void start(std::string_view task, std::uint64_t total, std::string_view unit) override {
    EXPECT_EQ(task, "reading");
    EXPECT_EQ(unit, "B");
    total_ = total;
  }
  void advance(std::uint64_t amount) override { done_ += amount; }
  [[nodiscard]] bool stop_requested() const override {
    ++asked;
    return stop;
  }
  std::atomic<bool> stop = false;
  mutable std::atomic<int> asked = 0;
  std::atomic<std::uint64_t> total_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
};

TEST(ReadLog, ReportsProgressAndStopsWhenAsked) {
  const TemporaryFolder folder;
  std::string text;
  for (int k = 0; k < 100'000; ++k) text += std::to_string(k % 1013) + "," + std::to_string(k % 7) + ",1\n";
  const std::string stored = gzip(text);
  write_file(folder / "log.gz", stored);
  Stopper observer;
  Execution execution;
  execution.observer = &observer;
  EXPECT_EQ(read_log({folder / "log.gz"}, {}, execution).rows(), 100'000);
  EXPECT_EQ(observer.total_, stored.size());
  EXPECT_EQ(observer.done_, stored.size());
  observer.stop = true;
  try {
    read_log({folder / "log.gz"}, {}, execution);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
}

TEST(ReadLog, ReadsNamedPipes) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream pipe(path);
    for (int k = 0; k < 3; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      pipe << std::string(50'000, 'u') << k << "\n" << k << ",i,1\n" << std::flush;
    }
  });
  const Interactions log = read_log({path}, {.header = Header::no, .skip_bad_lines = true}, {});
  writer.join();
  EXPECT_EQ(log.rows(), 3);
  EXPECT_EQ(log.skipped_lines, 3);
}

TEST(ReadLog, StopsWhileItWaitsForAPipe) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const bool with_writer : {false, true}) {
    const int pipe = with_writer ? ::open(path.c_str(), O_RDWR) : -1;
    Stopper observer;
    std::thread stopper([&] {
      // Who asks again and again whether to stop is waiting.
      while (observer.asked < 5) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      observer.stop = true;
    });
    error_message(ErrorKind::interrupted,
                  [&] { read_log({path}, {}, {.threads = 2, .observer = &observer}); });
    stopper.join();
    if (with_writer) ::close(pipe);
  }
}

class Thrower final : public Observer {
 public:
  void advance(std::uint64_t /*amount*/) override {
    throw std::system_error(std::make_error_code(std::errc::io_error), "of the observer");
  }
};

TEST(ReadLog, TakesNoOtherErrorForOneOfThreads) {
  const TemporaryFolder folder;
  write_file(folder / "log.csv", "u,i,1\n");
  Thrower observer;
  try {
    read_log({folder / "log.csv"}, {}, {.threads = 2, .observer = &observer});
    ADD_FAILURE();
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("of the observer"));
  }
}

TEST(ReadLog, RefusesLinesThatEndWithCarriageReturnsAlone) {
  for (const LogFormat format : {LogFormat::csv, LogFormat::adjacency, LogFormat::netflix}) {
    EXPECT_THAT(error_of("u,i,1\rv,i,2\r", {.format = format}).what(), HasSubstr("CR alone"));
  }
  EXPECT_EQ(read_text("u,i,1\r").rows(), 1) << "one line may end so";
}

TEST(ReadLog, ReadsTheOnlineRetailLog) {
  POISE_REQUIRE_DATA("online-retail/online_retail.csv.zst");
  LogOptions options;
  options.columns = {"CustomerID", "StockCode", "Quantity"};
  options.keep_above = 0;
  const Interactions log = read_log({test_data() / "online-retail/online_retail.csv.zst"}, options, {});
  EXPECT_EQ(log.rows() + log.empty_ids + log.below_threshold, 541'909);
  EXPECT_EQ(log.users.size(), 4339);
  EXPECT_EQ(log.rows(), 397'924);
}

TEST(ReadLog, ReadsTheGowallaLog) {
  POISE_REQUIRE_DATA("gowalla/train.txt.zst");
  const Interactions log = read_log({test_data() / "gowalla/train.txt.zst"}, {}, {});
  EXPECT_EQ(log.rows(), 810'128);
  EXPECT_EQ(log.users.size(), 29'858);
  EXPECT_EQ(log.items.size(), 40'981);
}

}  // namespace
}  // namespace poise::testing
