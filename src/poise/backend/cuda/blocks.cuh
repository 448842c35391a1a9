#pragma once

#include <algorithm>

#include "poise/backend/cuda/cuda_backend.hpp"

namespace poise::cuda {
namespace {

constexpr int threads = 256;
constexpr unsigned most_y = 65535;

/// Threads go along a row, blocks' y over rows.
dim3 rows_grid(std::int64_t rows, std::int64_t cols) {
  return {grid(cols, threads), static_cast<unsigned>(std::clamp<std::int64_t>(rows, 1, most_y)), 1};
}

}  // namespace
}  // namespace poise::cuda
