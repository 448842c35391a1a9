#include "input_files.hpp"

#include <fmt/format.h>
#include <glob.h>

#include "poise/base/error.hpp"
#include "poise/data/log/byte_source.hpp"

namespace poise::app {

namespace {

struct Matches {
  glob_t found = {};
  Matches() = default;
  Matches(const Matches&) = delete;
  Matches& operator=(const Matches&) = delete;
  ~Matches() { globfree(&found); }
};

}  // namespace

std::vector<std::filesystem::path> matching_files(const std::vector<std::filesystem::path>& inputs) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& input : inputs) {
    std::error_code ignored;
    const bool pattern = input.string().find_first_of("*?[") != std::string::npos;
    if (!pattern || std::filesystem::exists(input, ignored)) {
      files.push_back(input);
      continue;
    }
    Matches matches;
    if (glob(input.c_str(), 0, nullptr, &matches.found) != 0)
      fail(ErrorKind::input, "no file matches {}; check the path", input.string());
    for (std::size_t k = 0; k < matches.found.gl_pathc; ++k) files.emplace_back(matches.found.gl_pathv[k]);
  }
  return files;
}

std::string shown_inputs(const std::vector<std::filesystem::path>& inputs) {
  std::string first = logs::display_name(inputs.front());
  if (inputs.size() == 1) return first;
  return fmt::format("{} and {} more file{}", first, inputs.size() - 1, inputs.size() == 2 ? "" : "s");
}

}  // namespace poise::app
