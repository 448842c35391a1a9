#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "poise/data/ids.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise::python {

/// A matrix as Python passes it: (rows, columns), int64 row offsets, int32 column indices, float32 values or
/// None.
using CsrArrays =
    std::tuple<std::pair<std::int64_t, std::int64_t>, pybind11::array, pybind11::array, pybind11::object>;

/// A view of it without a copy, valid while the arrays live. TypeError for other element types or gaps
/// between elements.
CsrView view_of(const CsrArrays& arrays);

/// The elements of a one-dimensional array of exactly this type.
template <class T>
std::span<const T> elements_of(const pybind11::array& array) {
  if (!pybind11::isinstance<pybind11::array_t<T>>(array) || array.ndim() != 1 ||
      (array.size() > 1 && array.strides(0) != static_cast<pybind11::ssize_t>(sizeof(T))))
    throw pybind11::type_error("an array of another element type, or with gaps");
  return {static_cast<const T*>(array.data()), static_cast<std::size_t>(array.size())};
}

/// A read-only array over memory that `owner` keeps alive.
template <class T>
pybind11::array shared_array(std::vector<pybind11::ssize_t> shape, const T* data,
                             std::shared_ptr<const void> owner) {
  auto* const held = new std::shared_ptr<const void>(std::move(owner));
  const pybind11::capsule base(held,
                               [](void* kept) { delete static_cast<std::shared_ptr<const void>*>(kept); });
  pybind11::array_t<T> array(std::move(shape), data, base);
  array.attr("flags").attr("writeable") = false;
  return array;
}

/// An array that takes ownership of a vector.
template <class T>
pybind11::array owned_array(std::vector<T> values) {
  auto kept = std::make_shared<const std::vector<T>>(std::move(values));
  return shared_array<T>({static_cast<pybind11::ssize_t>(kept->size())}, kept->data(), kept);
}

/// A matrix whose rows follow each other without gaps.
pybind11::array shared_matrix(MatrixView<const float> matrix, std::shared_ptr<const void> owner);

/// The arrays of a matrix, sharing its memory.
CsrArrays shared_csr(CsrView matrix, const std::shared_ptr<const void>& owner);

/// Conversions between ids and Python's texts.
Ids ids_of(const std::vector<std::string>& texts);
pybind11::list texts_of(const Ids& ids);

}  // namespace poise::python
