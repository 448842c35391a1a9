#include "poise/search/journal.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "poise/base/error.hpp"

#include "support/expect_error.hpp"
#include "support/file_size_limit.hpp"

namespace poise {
namespace {

using Json = Journal::Json;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "journal";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  ErrorKind refusal() const {
    try {
      const Journal journal(path_, header_);
    } catch (const Error& error) {
      message_ = error.what();
      return error.kind();
    }
    return ErrorKind::interrupted;
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
  Json header_ = {{"journal", "test"}, {"method", 1}};
  mutable std::string message_;
};

TEST_F(JournalTest, OneOfAnotherVersionIsRefusedWithASentence) {
  { const Journal journal(path_, {{"journal", "test"}, {"method", 0}}); }
  const std::string before = text();
  EXPECT_EQ(refusal(), ErrorKind::input);
  EXPECT_NE(message_.find("another version of Poise"), std::string::npos) << message_;
  EXPECT_EQ(text(), before);
}

TEST_F(JournalTest, KeepsWhatWasAppended) {
  {
    Journal journal(path_, header_);
    EXPECT_EQ(journal.find("a"), nullptr);
    journal.append("a", {{"x", 0.1}});
    journal.append("b", 1e300);
    EXPECT_EQ(journal.size(), 2U);
  }
  const Journal journal(path_, header_);
  EXPECT_EQ(journal.size(), 2U);
  EXPECT_EQ(*journal.find("a"), Json({{"x", 0.1}}));
  EXPECT_EQ(*journal.find("b"), 1e300);
}

/// Whatever byte it was cut at, what is whole stays and the rest can be done again.
TEST_F(JournalTest, RecognisesATornLastLine) {
  {
    Journal journal(path_, header_);
    journal.append("first", 1);
    journal.append("second", "two");
  }
  const std::string whole = text();
  const std::size_t header_end = whole.find('\n') + 1;
  const std::size_t first_end = whole.find('\n', header_end) + 1;
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    write(whole.substr(0, cut));
    {
      Journal journal(path_, header_);
      EXPECT_EQ(journal.size(), cut < first_end ? 0U : 1U) << cut;
      if (cut < first_end) journal.append("first", 1);
      journal.append("second", "two");
    }
    ASSERT_EQ(text(), whole) << cut;
  }
  write(whole.substr(0, first_end) + std::string(100, '\0'));
  EXPECT_EQ(Journal(path_, header_).size(), 1U);
  EXPECT_EQ(text(), whole.substr(0, first_end));
}

TEST_F(JournalTest, RefusesADamagedLineBeforeTheLast) {
  {
    Journal journal(path_, header_);
    for (int k = 0; k < 3; ++k) journal.append(std::to_string(k), 1.5);
  }
  std::string bytes = text();
  bytes[bytes.find("1.5")] = '7';
  write(bytes);
  EXPECT_EQ(refusal(), ErrorKind::input);
  EXPECT_NE(message_.find("line 2"), std::string::npos) << message_;
  EXPECT_EQ(text(), bytes) << "nothing is changed";
}

TEST_F(JournalTest, RefusesWhatIsNoJournalAndLeavesItAlone) {
  for (const char* const bytes : {"dear diary\n", "dear diary", "{\"a\": 1}", "{}\n{}\n", "\n", "{"}) {
    write(bytes);
    if (std::string_view(bytes) == "{") {
      // A first line that was cut off after one byte.
      EXPECT_EQ(Journal(path_, header_).size(), 0U);
      continue;
    }
    EXPECT_EQ(refusal(), ErrorKind::input) << bytes;
    EXPECT_EQ(text(), bytes);
  }
}

TEST_F(JournalTest, RefusesAnotherHeaderAndNamesTheDifference) {
  Journal(path_, header_).append("a", 1);
  header_["method"] = 2;
  EXPECT_EQ(refusal(), ErrorKind::input);
  EXPECT_NE(message_.find("method"), std::string::npos) << message_;
}

TEST_F(JournalTest, IsLockedWhileInUse) {
  {
    const Journal journal(path_, header_);
    EXPECT_EQ(refusal(), ErrorKind::resources);
  }
  EXPECT_EQ(Journal(path_, header_).size(), 0U);
}

TEST_F(JournalTest, AFullDiskLosesNothingThatWasThere) {
  Journal journal(path_, header_);
  journal.append("a", 1);
  const std::string before = text();
  {
    const testing::FileSizeLimit limit(before.size() + 5);
    EXPECT_THROW(journal.append("b", std::string(100, 'x')), Error);
  }
  EXPECT_EQ(text(), before);
  journal.append("b", 2);
  EXPECT_EQ(*journal.find("b"), 2);
}

TEST_F(JournalTest, RefusesAFolderThatIsNotThere) {
  path_ = folder_ / "missing" / "journal";
  EXPECT_EQ(refusal(), ErrorKind::resources);
}

}  // namespace
}  // namespace poise
