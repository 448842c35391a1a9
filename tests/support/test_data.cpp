#include "support/test_data.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace poise::testing {

std::filesystem::path test_data() { return POISE_TEST_DATA; }

std::filesystem::path reference_set(const std::string& name) {
  const std::filesystem::path own = std::filesystem::path(POISE_TEST_SOURCE) / "reference" / name;
  return std::filesystem::exists(own) ? own : test_data() / name;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "poise-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace poise::testing
