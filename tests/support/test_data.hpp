#pragma once

#include <filesystem>

#include <gtest/gtest.h>

namespace poise::testing {

/// The folder with shared reference data, which not everyone has.
std::filesystem::path test_data();
/// The folder of a set with independent figures: one of this repository, otherwise shared.
std::filesystem::path reference_set(const std::string& name);

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

/// Skips the test, saying so, when a file or folder of shared data is not there.
#define POISE_REQUIRE_DATA(name) POISE_REQUIRE_PATH(::poise::testing::test_data() / (name))
#define POISE_REQUIRE_PATH(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "reference data not found: " << (path)
