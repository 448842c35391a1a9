#include "poise/model/model_content.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "poise/base/error.hpp"

namespace poise {
namespace {

constexpr std::int64_t elements_per_tile = std::int64_t{1} << 20;

/// No branch inside, so that it vectorizes and costs no more than reading.
bool all_finite(std::span<const float> numbers) {
  constexpr std::uint32_t exponent = 0x7F800000U;
  std::uint32_t bad = 0;
  for (const float number : numbers)
    bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(number) & exponent) == exponent);
  return bad == 0;
}

}  // namespace

Tensor tensor_of(const char* name, MatrixView<const float> matrix) {
  assert(matrix.stride == matrix.cols);
  return tensor_of(name, ElementType::f32, std::span(matrix.data, matrix.data + matrix.rows * matrix.cols),
                   {matrix.rows, matrix.cols});
}

void expect_sound(const Container& file, bool sound, std::string_view what) {
  if (!sound) fail(ErrorKind::input, "{} is damaged: {}", file.name(), what);
}

bool are_offsets_of(std::span<const std::int64_t> offsets, std::uint64_t size) {
  return !offsets.empty() && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
         static_cast<std::uint64_t>(offsets.back()) == size;
}

std::span<const float> finite_elements(const Container& file, const char* name, int threads) {
  const auto elements = file.elements<float>(name);
  const Tiling tiling{static_cast<std::int64_t>(elements.size()), elements_per_tile};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    expect_sound(file,
                 all_finite(elements.subspan(tiling.first(tile), tiling.last(tile) - tiling.first(tile))),
                 fmt::format("in its tensor {}, a number is not finite", name));
  });
  return elements;
}

MatrixView<const float> finite_matrix(const Container& file, const char* name, int threads) {
  const std::vector<std::int64_t>& shape = file.tensor(name, ElementType::f32).shape;
  expect_sound(file, shape.size() == 2, fmt::format("its tensor {} is not a matrix", name));
  return {.data = finite_elements(file, name, threads).data(),
          .rows = shape[0],
          .cols = shape[1],
          .stride = shape[1]};
}

}  // namespace poise
