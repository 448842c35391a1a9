#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "poise/linalg/matrix.hpp"
#include "poise/storage/container.hpp"

namespace poise {

/// What a model file holds of a model: its tensors where they lie, and what `owner` keeps alive for them.
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

/// Error{input}, saying that the file is damaged and what is wrong with it, unless it is sound.
void expect_sound(const Container& file, bool sound, std::string_view what);

/// Whether they cut `size` elements into lists: from 0, never down, to the size.
bool are_offsets_of(std::span<const std::int64_t> offsets, std::uint64_t size);

/// The elements of a tensor; Error{input} where one is infinite or NaN.
std::span<const float> finite_elements(const Container& file, const char* name, int threads);

/// A matrix of such elements, where it lies in the file.
MatrixView<const float> finite_matrix(const Container& file, const char* name, int threads);

}  // namespace poise
