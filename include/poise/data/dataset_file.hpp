#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset.hpp"
#include "poise/storage/container.hpp"

namespace poise {

/// Prepared data on disk: a folder with one file, data.poise, a container (see container.hpp) whose tensors
/// are compressed; docs/data-format.md describes it. The same Dataset always gives the same bytes.

/// Writes `folder`/data.poise atomically and makes the folder if it is missing. A failure leaves neither a
/// partial file nor a new folder.
void write_dataset(const std::filesystem::path& folder, const Dataset& dataset, const Execution& execution);

struct LoadedDataset {
  Dataset dataset;
  std::string checksum;  ///< the file's identity: Container::checksum
};

/// Throws Error{input} if the folder holds no prepared data or a byte of it is damaged.
LoadedDataset read_dataset(const std::filesystem::path& folder, const Execution& execution);

/// The part of prepared data that is needed to measure a model on held-out users.
struct EvaluationData {
  /// Has only the requested part, if it exists. The training matrix and its users are left out (no rows)
  /// unless they are the histories, as with the split `given`.
  Dataset dataset;
  std::vector<std::int64_t> training_counts;  ///< of each item
  std::string checksum;                       ///< as in LoadedDataset
};

/// Reads only that much: `part` is "test" or "validation". Throws as read_dataset, but checks the parts that
/// it skips by their checksums alone.
EvaluationData read_evaluation_data(const std::filesystem::path& folder, const std::string& part,
                                    const Execution& execution);

/// Sizes of prepared data, from the file's header alone. All are 0 if the header cannot be read; read_dataset
/// then reports the error.
struct DatasetSizes {
  std::int64_t items = 0;
  std::map<std::string, std::uint64_t> history_bytes;  ///< per part; about one per interaction
};
DatasetSizes dataset_sizes(const std::filesystem::path& folder);

/// The bytes of data.poise.
std::vector<std::byte> encode_dataset(const Dataset& dataset, const Execution& execution);

/// The identity that data in memory would have on disk; see LoadedDataset::checksum.
std::string checksum_of(const Dataset& dataset, const Execution& execution);

/// The data of an opened data.poise. Checks everything, because checksums only prove that the bytes are those
/// that were written.
Dataset decode_dataset(const Container& container, const Execution& execution);
/// See read_evaluation_data.
EvaluationData decode_evaluation_data(const Container& container, const std::string& part,
                                      const Execution& execution);
DatasetSizes decode_sizes(const Container& container);

}  // namespace poise
