#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "poise/linalg/matrix.hpp"
#include "poise/storage/container.hpp"

namespace poise {

/// The content of a model file: its tensors, not copied, and an `owner` that keeps their memory alive.
struct ModelContent {
  std::vector<Tensor> tensors;
  Metadata metadata = {};
  std::shared_ptr<const void> owner = {};
};

template <class T>
Tensor tensor_of(const char* name, ElementType type, const T& values, std::vector<std::int64_t> shape) {
  return {name, type, std::move(shape), std::as_bytes(std::span(values.data(), values.size()))};
}
/// Rows must follow each other without gaps.
Tensor tensor_of(const char* name, MatrixView<const float> matrix);

/// Throws Error{input}, which says that the file is damaged and how, unless `sound`.
void expect_sound(const Container& file, bool sound, std::string_view what);

/// Whether the offsets cut `size` elements into lists: they begin at 0, never descend, and end at the size.
bool are_offsets_of(std::span<const std::int64_t> offsets, std::uint64_t size);

/// The elements of a tensor; Error{input} if one is infinite or NaN.
std::span<const float> finite_elements(const Container& file, const char* name, int threads);

/// A matrix of such elements, without a copy.
MatrixView<const float> finite_matrix(const Container& file, const char* name, int threads);

}  // namespace poise
