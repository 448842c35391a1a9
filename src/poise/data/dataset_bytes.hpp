#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "poise/base/parallel.hpp"

namespace poise {

/// write_dataset() for data that are encoded already.
void write_dataset_bytes(const std::filesystem::path& folder, std::span<const std::byte> bytes,
                         const Execution& execution);

}  // namespace poise
