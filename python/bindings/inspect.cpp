#include <atomic>
#include <cmath>

#include "poise/base/error.hpp"

#include "arrays.hpp"
#include "parts.hpp"
#include "work.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

/// Whether every row ascends without repetition; Error{input} unless offsets and indices fit the shape.
bool is_canonical(CsrView matrix, const Execution& execution) {
  const auto expect = [](bool sound, const char* what) {
    if (!sound) fail(ErrorKind::input, "the matrix is not a valid CSR matrix: {}", what);
  };
  const auto entries = static_cast<std::int64_t>(matrix.indices.size());
  expect(static_cast<std::int64_t>(matrix.offsets.size()) == matrix.rows + 1 && matrix.offsets.front() == 0 &&
             matrix.offsets.back() == entries,
         "its indptr does not fit its rows and entries");
  std::atomic<bool> canonical = true;
  const Tiling tiling{matrix.rows, 4096};
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    bool ascending = true;
    bool inside = true;
    for (std::int64_t r = tiling.first(tile); r < tiling.last(tile); ++r) {
      expect(matrix.offsets[r] >= 0 && matrix.offsets[r] <= matrix.offsets[r + 1] &&
                 matrix.offsets[r + 1] <= entries,
             "its indptr does not ascend");
      std::int32_t previous = -1;
      for (const std::int32_t index : matrix.row(r)) {
        ascending &= index > previous;
        inside &= index >= 0 && index < matrix.cols;
        previous = index;
      }
    }
    expect(inside, "an index lies outside its columns");
    if (!ascending) canonical = false;
  });
  return canonical;
}

/// (all are finite, one of them is 0).
template <class T>
std::pair<bool, bool> look_at(std::span<const T> values, const Execution& execution) {
  std::atomic<bool> finite = true;
  std::atomic<bool> zero = false;
  const Tiling tiling{static_cast<std::int64_t>(values.size()), std::int64_t{1} << 20};
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    bool good = true;
    bool none = false;
    for (const T value : values.subspan(tiling.first(tile), tiling.last(tile) - tiling.first(tile))) {
      good &= std::isfinite(value);
      none |= value == 0;
    }
    if (!good) finite = false;
    if (none) zero = true;
  });
  return {finite, zero};
}

/// Up to so many entries are checked on the calling thread: starting a thread would take longer.
constexpr std::size_t few_entries = std::size_t{1} << 16;

template <class Body>
auto run_for_entries(std::size_t entries, int threads, Body&& body) {
  if (entries <= few_entries) return run_here(body);
  return run({threads, py::none()}, body);
}

}  // namespace

void bind_inspect(py::module_& module) {
  module.def("is_canonical", [](const CsrArrays& arrays, int threads) {
    const CsrView matrix = view_of(arrays);
    return run_for_entries(matrix.indices.size() + matrix.offsets.size(), threads,
                           [&](const Execution& execution) { return is_canonical(matrix, execution); });
  });
  module.def("look_at_values", [](const py::object& values, int threads) {
    const auto look = [&]<class T>(std::span<const T> elements) {
      return run_for_entries(elements.size(), threads,
                             [&](const Execution& execution) { return look_at(elements, execution); });
    };
    if (has_elements(values, letter_of<float>())) return look(elements_of<float>(values));
    return look(elements_of<double>(values));
  });
}

}  // namespace poise::python
