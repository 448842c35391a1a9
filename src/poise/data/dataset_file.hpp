#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset.hpp"
#include "poise/io/container.hpp"

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

/// The bytes of data.poise.
std::vector<std::byte> encode_dataset(const Dataset& dataset, const Execution& execution);

/// The data in an opened data.poise. Checks everything, for checksums prove only that the bytes are the
/// ones that were written.
Dataset decode_dataset(const Container& container, const Execution& execution);

}  // namespace poise
