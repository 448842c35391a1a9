#include "poise/data/pro_sg.hpp"

#include <gtest/gtest.h>

#include "poise/base/error.hpp"

#include "support/expect_error.hpp"
#include "support/file_size_limit.hpp"
#include "support/test_data.hpp"

namespace poise {
namespace {

using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

/// A folder in the layout; tests overwrite one file each.
void write_example(const TemporaryFolder& folder) {
  write_file(folder / "unique_sid.txt", "apple\npear\nplum\nfig\n");
  write_file(folder / "train.csv", "uid,sid,count\n7,2,5\n0,1,1\n0,0,2\n7,2,1\n");
  write_file(folder / "validation_tr.csv", "uid,sid,count\n9,3,4\n");
  write_file(folder / "validation_te.csv", "uid,sid,count\n9,0,1\n12,1,1\n");
  write_file(folder / "test_tr.csv", "uid,sid,count\n20,1,1\n");
  write_file(folder / "test_te.csv", "uid,sid,count\n");
}

void expect_refused(const TemporaryFolder& folder, const std::string& part) {
  try {
    read_pro_sg(folder.path(), {});
    ADD_FAILURE() << "not refused: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(ProSg, ReadsUsersItemsAndValuesByTheirNumbers) {
  const TemporaryFolder folder;
  write_example(folder);
  const Dataset data = read_pro_sg(folder.path(), {});
  validate(data);
  EXPECT_EQ(data.items.size(), 4) << "an item without training users keeps its number";
  EXPECT_EQ(data.items[3], "fig");
  EXPECT_EQ(data.users.size(), 2);
  EXPECT_EQ(data.users[1], "7");
  EXPECT_EQ(data.train.offsets, (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(data.train.indices, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(data.train.values, (std::vector<float>{2, 1, 6}));
  EXPECT_EQ(data.counts.duplicates, 1);
  EXPECT_EQ(data.validation->users.size(), 2) << "a user with targets alone is one, too";
  EXPECT_EQ(data.validation->fold_in.view().row_size(1), 0);
  EXPECT_EQ(data.validation->targets.indices, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(data.test->targets.entries(), 0);
  EXPECT_EQ(data.test->users.size(), 1);
}

TEST(ProSg, WritesSortedRowsAndReadsThemBack) {
  const TemporaryFolder folder;
  write_example(folder);
  const Dataset data = read_pro_sg(folder.path(), {});
  write_pro_sg(folder / "out", data, true, {});
  EXPECT_EQ(read_file(folder / "out/train.csv"), "uid,sid,value\n0,0,2\n0,1,1\n1,2,6\n");
  EXPECT_EQ(read_file(folder / "out/validation_te.csv"), "uid,sid,value\n2,0,1\n3,1,1\n");
  EXPECT_EQ(read_file(folder / "out/test_tr.csv"), "uid,sid,value\n4,1,1\n");
  EXPECT_EQ(read_file(folder / "out/unique_sid.txt"), "apple\npear\nplum\nfig\n");
  write_pro_sg(folder / "plain", data, false, {});
  EXPECT_EQ(read_file(folder / "plain/train.csv"), "uid,sid\n0,0\n0,1\n1,2\n");
  const Dataset again = read_pro_sg(folder / "out", {});
  EXPECT_EQ(again.train, data.train);
  EXPECT_EQ(again.validation->targets, data.validation->targets);
}

TEST(ProSg, RefusesWhatIsNotTheLayout) {
  const auto refused = [](const char* file, const char* content, const char* part) {
    const TemporaryFolder folder;
    write_example(folder);
    write_file(folder / file, content);
    expect_refused(folder, part);
  };
  refused("train.csv", "uid,sid\n0,4\n", "sid");
  refused("train.csv", "uid,sid\n0,-1\n", "sid");
  refused("train.csv", "uid,sid\nx,1\n", "uid");
  refused("train.csv", "uid,sid\n0,1.5\n", "sid");
  refused("train.csv", "uid,sid\n,1\n", "train.csv");
  refused("train.csv", "uid,sid\n0\n", "train.csv:2");
  refused("train.csv", "uid,sid\n", "train.csv");
  refused("train.csv", "", "train.csv");
  refused("test_te.csv", "uid,sid\n0,99\n", "test_te.csv");
  refused("unique_sid.txt", "", "unique_sid.txt");
  refused("unique_sid.txt", "a\nb\na\n", "twice");
  refused("unique_sid.txt", "a\n\nb\nc\n", "unique_sid.txt:2: the line is empty");
  refused("train.csv", "0,1\n1,2\n", "names of its columns");
  const TemporaryFolder folder;
  write_example(folder);
  std::filesystem::remove(folder / "test_tr.csv");
  expect_refused(folder, "test_tr.csv");
}

TEST(ProSg, RefusesNumbersNotWrittenPlainlyAndNamesTheirLine) {
  for (const std::string row : {"01,1", "+1,1", "-0,1", "-1,1", "1.0,1", " 1,1", "2147483647,1",
                                "99999999999999999999,1", "1,00", "1,4", "1,4294967296"}) {
    const TemporaryFolder folder;
    write_example(folder);
    write_file(folder / "validation_te.csv", "uid,sid\r\n9,1\n\n1,\"0\"\n" + row + "\n1,1\n");
    expect_refused(folder, "validation_te.csv:5: the ");
    expect_refused(folder, row.ends_with(",1") ? "uid" : "sid");
  }
  const TemporaryFolder folder;
  write_example(folder);
  write_file(folder / "train.csv", "uid,sid\n2147483646,1\n");
  EXPECT_EQ(read_pro_sg(folder.path(), {}).users[0], "2147483646");
}

TEST(ProSg, TakesPartsOfAHeaderAndBlankLinesAsEmpty) {
  for (const char* content : {"uid,sid", "uid,sid\n", "uid,sid\r\n", "uid,sid\n\n\r\n\n", "\nuid,sid\n\n"}) {
    const TemporaryFolder folder;
    write_example(folder);
    write_file(folder / "test_tr.csv", content);
    write_file(folder / "test_te.csv", content);
    EXPECT_EQ(read_pro_sg(folder.path(), {}).test->users.size(), 0) << content;
  }
}

TEST(ProSg, ReadsItemIdsWithAnyLineEndsAtTheEnd) {
  for (const char* end : {"", "\n", "\r\n", "\n\n\r\n"}) {
    const TemporaryFolder folder;
    write_example(folder);
    write_file(folder / "unique_sid.txt", std::string("a\nb\r\nc\nd") + end);
    const Dataset data = read_pro_sg(folder.path(), {});
    EXPECT_EQ(data.items, Ids("abcd", {0, 1, 2, 3, 4})) << end;
    write_file(folder / "unique_sid.txt", std::string("\xef\xbb\xbf"
                                                      "a\nb\r\nc\nd") +
                                              end);
    EXPECT_EQ(read_pro_sg(folder.path(), {}).items, data.items) << end;
  }
}

Dataset example_dataset() {
  const TemporaryFolder folder;
  write_example(folder);
  return read_pro_sg(folder.path(), {});
}

TEST(ProSg, RefusesItemIdsThatAreNoLinesBeforeItWrites) {
  for (const std::string id : {"two\nlines", "return\r", ""}) {
    const TemporaryFolder folder;
    Dataset data = example_dataset();
    data.items = Ids();
    for (const std::string& name : {std::string("a"), id, std::string("b"), std::string("c\rd")})
      data.items.push_back(name);
    const std::string message =
        testing::error_message(ErrorKind::input, [&] { write_pro_sg(folder / "new/out", data, false, {}); });
    EXPECT_NE(message.find(id.substr(0, 3)), std::string::npos) << message;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(ProSg, LeavesNothingWhenWritingFails) {
  const TemporaryFolder folder;
  const Dataset data = example_dataset();
  {
    const testing::FileSizeLimit limit(30);  // enough for the first files alone
    testing::error_message(ErrorKind::resources, [&] { write_pro_sg(folder / "a/b", data, true, {}); });
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  std::filesystem::create_directory(folder / "old");
  std::filesystem::create_directory(folder / "old/test_te.csv");
  testing::error_message(ErrorKind::resources, [&] { write_pro_sg(folder / "old", data, true, {}); });
  EXPECT_FALSE(std::filesystem::exists(folder / "old/train.csv")) << "the files appear together";
}

class CountingStopper final : public Observer {
 public:
  void advance(std::uint64_t amount) override { done += amount; }
  [[nodiscard]] bool stop_requested() const override { return stop; }
  bool stop = false;
  std::uint64_t done = 0;
};

TEST(ProSg, ReportsProgressAndStopsWhenAsked) {
  const TemporaryFolder folder;
  const Dataset data = example_dataset();
  CountingStopper observer;
  write_pro_sg(folder / "out", data, true, {.threads = 1, .observer = &observer});
  EXPECT_EQ(observer.done, 7U);
  observer.stop = true;
  testing::error_message(ErrorKind::interrupted, [&] {
    write_pro_sg(folder / "other", data, true, {.threads = 1, .observer = &observer});
  });
  EXPECT_FALSE(std::filesystem::exists(folder / "other"));
}

}  // namespace
}  // namespace poise
