#pragma once

#include <filesystem>

#include <gtest/gtest.h>

namespace poise::testing {

/// The folder with the reference data sets.
inline std::filesystem::path test_data() { return POISE_TEST_DATA; }

/// A fresh folder that is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Writes a file of these bytes.
void write_file(const std::filesystem::path& path, std::string_view bytes);
/// The bytes of a file.
std::string read_file(const std::filesystem::path& path);

}  // namespace poise::testing

/// Skips the test, saying so, when a reference data set is not there.
#define POISE_REQUIRE_DATA(name)                                        \
  if (!std::filesystem::exists(::poise::testing::test_data() / (name))) \
  GTEST_SKIP() << "reference data not found: " << ::poise::testing::test_data() / (name)
