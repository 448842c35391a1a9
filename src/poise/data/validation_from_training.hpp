#pragma once

#include <cstdint>

#include "poise/base/parallel.hpp"
#include "poise/data/dataset_file.hpp"

namespace poise {

/// Whether the data have the split `given` and no validation part, so that one can be made of training rows.
bool lacks_given_validation(const Dataset& dataset);

/// Such data with a validation part made of training rows: of each user's k rows k / 10, rounded, at least
/// one, and none of a single row. They are drawn from a stream of (seed, user), so that neither threads nor
/// other users matter; the user's other rows stay in the training part and are its history. There is no test
/// part: that is for models of all training rows. The result has its own checksum, made of the data's
/// checksum and the seed. Error{input} if no user has two rows.
LoadedDataset validation_from_training(const LoadedDataset& data, std::uint64_t seed,
                                       const Execution& execution);

}  // namespace poise
