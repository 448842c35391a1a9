#pragma once

#include <filesystem>
#include <vector>

namespace poise {

/// RAII handle of a new folder: the constructor makes it with its missing parents, the destructor removes
/// those that are empty unless keep() was called. Error{resources} if the folder cannot be made.
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
