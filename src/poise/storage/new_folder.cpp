#include "poise/storage/new_folder.hpp"

#include <system_error>

#include "poise/base/error.hpp"

namespace poise {

namespace fs = std::filesystem;

NewFolder::NewFolder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> missing;
  for (fs::path path = folder; !path.empty() && !fs::exists(path, error); path = path.parent_path())
    missing.push_back(path);
  for (; !missing.empty(); missing.pop_back()) {
    if (fs::create_directory(missing.back(), error)) made_.push_back(missing.back());
    if (error) {
      remove();
      fail_on_file(ErrorKind::resources, "cannot make the folder {}: {}", missing.back().string(),
                   error.message());
    }
  }
}

void NewFolder::remove() {
  std::error_code ignored;
  for (; !made_.empty(); made_.pop_back()) fs::remove(made_.back(), ignored);
}

}  // namespace poise
