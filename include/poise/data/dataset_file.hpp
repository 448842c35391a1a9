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

/// Writes `folder`/data.poise atomically, making the folder if it is missing. After a failure nothing is
/// left: no part of the file, no new folder.
void write_dataset(const std::filesystem::path& folder, const Dataset& dataset, const Execution& execution);

struct LoadedDataset {
  Dataset dataset;
  std::string checksum;  ///< the file's identity: Container::checksum
};

/// Throws Error{input} when there is no prepared data in the folder or it is damaged in any byte.
LoadedDataset read_dataset(const std::filesystem::path& folder, const Execution& execution);

/// What it takes to measure a model on held-out users.
struct EvaluationData {
  /// With the one part that was asked for, if there is one. The training matrix and its users are left out
  /// (no rows) unless they are the histories, as they are with the split `given`.
  Dataset dataset;
  std::vector<std::int64_t> training_counts;  ///< of each item
  std::string checksum;                       ///< as above
};

/// Reads no more than that: `part` is "test" or "validation". Throws as read_dataset, though what is damaged
/// in parts that it leaves out is known from checksums alone.
EvaluationData read_evaluation_data(const std::filesystem::path& folder, const std::string& part,
                                    const Execution& execution);

/// Of prepared data, from the file's header alone. Zeros where that cannot be read, which reading the data
/// tells.
struct DatasetSizes {
  std::int64_t items = 0;
  std::map<std::string, std::uint64_t> history_bytes;  ///< of each held-out part; about one an interaction
};
DatasetSizes dataset_sizes(const std::filesystem::path& folder);

/// The bytes of data.poise.
std::vector<std::byte> encode_dataset(const Dataset& dataset, const Execution& execution);

/// The identity that data in memory would have on disk: LoadedDataset::checksum.
std::string checksum_of(const Dataset& dataset, const Execution& execution);

/// The data in an opened data.poise. Checks everything, for checksums prove only that the bytes are the
/// ones that were written.
Dataset decode_dataset(const Container& container, const Execution& execution);
/// See read_evaluation_data.
EvaluationData decode_evaluation_data(const Container& container, const std::string& part,
                                      const Execution& execution);
DatasetSizes decode_sizes(const Container& container);

}  // namespace poise
