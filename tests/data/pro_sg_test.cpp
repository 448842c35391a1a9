#include "poise/data/pro_sg.hpp"

#include <gtest/gtest.h>

#include "poise/base/error.hpp"

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
  write_pro_sg(folder / "out", data, true);
  EXPECT_EQ(read_file(folder / "out/train.csv"), "uid,sid,value\n0,0,2\n0,1,1\n1,2,6\n");
  EXPECT_EQ(read_file(folder / "out/validation_te.csv"), "uid,sid,value\n2,0,1\n3,1,1\n");
  EXPECT_EQ(read_file(folder / "out/test_tr.csv"), "uid,sid,value\n4,1,1\n");
  EXPECT_EQ(read_file(folder / "out/unique_sid.txt"), "apple\npear\nplum\nfig\n");
  write_pro_sg(folder / "plain", data, false);
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
  const TemporaryFolder folder;
  write_example(folder);
  std::filesystem::remove(folder / "test_tr.csv");
  expect_refused(folder, "test_tr.csv");
}

}  // namespace
}  // namespace poise
