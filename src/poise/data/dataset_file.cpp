#include "poise/data/dataset_file.hpp"

#include <system_error>

#include "poise/base/error.hpp"
#include "poise/io/atomic_file.hpp"

namespace poise {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "data.poise";

/// A folder made with the parents it lacks, and removed again with them unless it is kept.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> missing;
    for (fs::path path = folder; !path.empty() && !fs::exists(path, error); path = path.parent_path())
      missing.push_back(path);
    for (; !missing.empty(); missing.pop_back()) {
      if (fs::create_directory(missing.back(), error)) made_.push_back(missing.back());
      if (error) {
        remove();
        fail(ErrorKind::resources, "cannot make the folder {}: {}", missing.back().string(), error.message());
      }
    }
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() { remove(); }
  void keep() { made_.clear(); }

 private:
  void remove() {
    std::error_code ignored;
    for (; !made_.empty(); made_.pop_back()) fs::remove(made_.back(), ignored);
  }
  std::vector<fs::path> made_;
};

}  // namespace

void write_dataset(const fs::path& folder, const Dataset& dataset, const Execution& execution) {
  const std::vector<std::byte> bytes = encode_dataset(dataset, execution);
  NewFolder made(folder);
  AtomicFile file(folder / file_name);
  file.write(bytes);
  stop_if_asked(execution.observer);
  file.commit();
  made.keep();
}

LoadedDataset read_dataset(const fs::path& folder, const Execution& execution) {
  const fs::path path = folder / file_name;
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    fail(ErrorKind::input, "{} holds no prepared data ({} is missing); make it with poise prepare",
         folder.string(), file_name);
  const Container container = Container::open(path, execution.threads);
  return {decode_dataset(container, execution), container.checksum()};
}

}  // namespace poise
