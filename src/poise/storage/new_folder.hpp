#pragma once

#include <filesystem>
#include <vector>

namespace poise {

/// A folder made with the parents it lacks, and removed again with them, where they are empty, unless it is
/// kept. A folder that cannot be made is an Error{resources}.
class NewFolder {
 public:
  explicit NewFolder(const std::filesystem::path& folder);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() { remove(); }
  /// Whether the folder was missing.
  [[nodiscard]] bool made() const { return !made_.empty(); }
  void keep() { made_.clear(); }

 private:
  void remove();

  std::vector<std::filesystem::path> made_;
};

}  // namespace poise
