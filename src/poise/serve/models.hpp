#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "poise/serve/served_model.hpp"

namespace poise::serve {

/// A model to serve: a name and its file.
struct ModelSource {
  std::string name;
  std::filesystem::path path;
};

/// The models at one moment, in the order of the command line; the first answers where none is named.
using ModelSet = std::vector<std::shared_ptr<const ServedModel>>;

/// The outcome of a reload for one model.
struct Reloaded {
  std::string name;
  bool taken = false;   ///< whether the file took over
  std::string problem;  ///< why not
};

/// The models that are served. A request takes the set once and works with it to its end; a reload puts
/// another set in its place.
class Models {
 public:
  /// Opens every model; throws as ServedModel::open.
  Models(std::vector<ModelSource> sources, Held held, ItemFilters filters, int threads);
  /// Models in memory, which are not reloaded.
  explicit Models(ModelSet models);

  [[nodiscard]] std::shared_ptr<const ModelSet> now() const;
  /// Reads every file again. A file that cannot be served leaves its model as it is. One reload runs at a
  /// time.
  std::vector<Reloaded> reload();
  /// Reloads if a file is another than the one last read, and has not changed since the last call: a file
  /// that is still being written waits. Empty when nothing was to do.
  std::vector<Reloaded> reload_if_changed();

 private:
  /// What tells one state of a file from another.
  struct FileState {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t modified = 0;  ///< nanoseconds
    bool operator==(const FileState&) const = default;
  };
  static FileState state_of(const std::filesystem::path& path);
  std::vector<FileState> states() const;
  std::vector<Reloaded> read_again();

  std::vector<ModelSource> sources_;
  Held held_ = Held::read;
  ItemFilters filters_;
  int threads_ = 1;
  mutable std::mutex mutex_;  ///< of `models_`
  std::shared_ptr<const ModelSet> models_;
  std::mutex reloading_;  ///< of the two below
  std::vector<FileState> read_;
  std::vector<FileState> seen_;
};

/// The model of this name; null if there is none.
std::shared_ptr<const ServedModel> find_model(const ModelSet& models, std::string_view name);

}  // namespace poise::serve
