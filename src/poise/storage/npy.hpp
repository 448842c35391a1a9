#pragma once

#include <filesystem>

#include "poise/linalg/matrix.hpp"

namespace poise {

/// Writes a matrix as NumPy's .npy (version 1.0: float32, C order), atomically. Its rows must follow each
/// other without gaps.
void write_npy(const std::filesystem::path& path, MatrixView<const float> matrix);

}  // namespace poise
