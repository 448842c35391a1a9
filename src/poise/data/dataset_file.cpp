#include "poise/data/dataset_file.hpp"

#include <system_error>

#include "poise/base/error.hpp"
#include "poise/data/dataset_bytes.hpp"
#include "poise/storage/atomic_file.hpp"
#include "poise/storage/new_folder.hpp"

namespace poise {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "data.poise";

Container open(const fs::path& folder, const Execution& execution) {
  const fs::path path = folder / file_name;
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    fail_on_file(ErrorKind::input, "{} holds no prepared data ({} is missing); make it with poise prepare",
                 folder.string(), file_name);
  return Container::open(path, execution.threads);
}

}  // namespace

void write_dataset(const fs::path& folder, const Dataset& dataset, const Execution& execution) {
  write_dataset_bytes(folder, encode_dataset(dataset, execution), execution);
}

void write_dataset_bytes(const fs::path& folder, std::span<const std::byte> bytes,
                         const Execution& execution) {
  NewFolder made(folder);
  AtomicFile file(folder / file_name);
  file.write(bytes);
  stop_if_asked(execution.observer);
  file.commit();
  made.keep();
}

LoadedDataset read_dataset(const fs::path& folder, const Execution& execution) {
  const Container container = open(folder, execution);
  return {decode_dataset(container, execution), container.checksum()};
}

std::string checksum_of(const Dataset& dataset, const Execution& execution) {
  const std::vector<std::byte> bytes = encode_dataset(dataset, execution);
  return Container::parse(bytes, "the data", execution.threads).checksum();
}

EvaluationData read_evaluation_data(const fs::path& folder, const std::string& part,
                                    const Execution& execution) {
  return decode_evaluation_data(open(folder, execution), part, execution);
}

DatasetSizes dataset_sizes(const fs::path& folder) {
  try {
    return decode_sizes(Container::peek(folder / file_name));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace poise
