#include "output_check.hpp"

#include <system_error>
#include <vector>

#include "poise/base/error.hpp"
#include "poise/storage/atomic_file.hpp"

namespace poise::app {

namespace fs = std::filesystem;

namespace {

/// RAII handle: folders made for a trial, removed on destruction.
class TrialFolders {
 public:
  TrialFolders() = default;
  TrialFolders(const TrialFolders&) = delete;
  TrialFolders& operator=(const TrialFolders&) = delete;
  ~TrialFolders() {
    std::error_code ignored;
    for (; !made_.empty(); made_.pop_back()) fs::remove(made_.back(), ignored);
  }

  void make(const fs::path& folder) {
    std::error_code error;
    if (fs::exists(folder, error)) return;
    if (folder.has_parent_path() && folder.parent_path() != folder) make(folder.parent_path());
    if (fs::create_directory(folder, error)) made_.push_back(folder);
    if (error) {
      fail(ErrorKind::resources, "cannot make the folder {}: {}", folder.string(), error.message());
    }
  }

 private:
  std::vector<fs::path> made_;
};

}  // namespace

void check_file_can_be_written(const fs::path& file) { const AtomicFile trial(file); }

void check_folder_can_be_written(const fs::path& folder) {
  TrialFolders trial;
  trial.make(folder);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    fail(ErrorKind::resources, "cannot write to {}: it exists and is not a folder", folder.string());
  }
  check_file_can_be_written(folder / "data.poise");
}

}  // namespace poise::app
