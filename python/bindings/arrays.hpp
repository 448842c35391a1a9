#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "poise/data/ids.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/linalg/user_rows.hpp"

/// Arrays cross the border by Python's buffer protocol, and NumPy makes its arrays from it in Python. Nothing
/// here is compiled against NumPy, so that one module serves every version of it.
namespace poise::python {

/// A matrix as Python passes it: (rows, columns), int64 row offsets, int32 column indices, float32 values or
/// None.
using CsrArrays =
    std::tuple<std::pair<std::int64_t, std::int64_t>, pybind11::object, pybind11::object, pybind11::object>;

/// A view of it without a copy, valid while the arrays live. TypeError for other element types or gaps
/// between elements.
CsrView view_of(const CsrArrays& arrays);

/// Users as Python passes them: their items, their dislikes or None, and dislike_share.
using UserArrays = std::tuple<CsrArrays, std::optional<CsrArrays>, double>;
UserRows rows_of(const UserArrays& users);

/// The letter of an element type in the buffer protocol (module struct).
template <class T>
constexpr char letter_of() {
  if constexpr (std::is_same_v<T, float>) return 'f';
  if constexpr (std::is_same_v<T, double>) return 'd';
  if constexpr (std::is_same_v<T, std::uint8_t>) return 'B';
  if constexpr (std::is_same_v<T, std::int32_t>) return 'i';
  if constexpr (std::is_same_v<T, std::int64_t>) return 'l';
  if constexpr (std::is_same_v<T, std::uint64_t>) return 'L';
}

/// An object's memory without gaps.
struct Block {
  const void* data = nullptr;
  std::vector<std::int64_t> shape;
};

/// The memory of an object with the buffer protocol, valid while the object lives. TypeError for another
/// element type, another number of dimensions, or gaps between elements.
Block block_of(const pybind11::handle& object, char letter, int dimensions);

/// Whether the object has elements of this type.
bool has_elements(const pybind11::handle& object, char letter);

/// The elements of a one-dimensional array of exactly this type.
template <class T>
std::span<const T> elements_of(const pybind11::handle& array) {
  const Block block = block_of(array, letter_of<T>(), 1);
  return {static_cast<const T*>(block.data), static_cast<std::size_t>(block.shape[0])};
}

/// A matrix of float32 whose rows follow each other without gaps.
MatrixView<const float> matrix_of(const pybind11::handle& array);

/// Memory of the library as Python sees it: with the buffer protocol.
struct Memory {
  std::shared_ptr<const void> owner;
  const void* data;
  std::vector<pybind11::ssize_t> shape;
  char letter;
  pybind11::ssize_t size;  ///< of an element, in bytes
  bool read_only;
};

/// A NumPy array over this memory.
pybind11::object as_array(Memory memory);

/// A read-only array over memory that `owner` keeps alive.
template <class T>
pybind11::object shared_array(std::vector<pybind11::ssize_t> shape, const T* data,
                              std::shared_ptr<const void> owner) {
  return as_array({std::move(owner), data, std::move(shape), letter_of<T>(), sizeof(T), true});
}

/// An array that takes ownership of a vector.
template <class T>
pybind11::object owned_array(std::vector<T> values) {
  auto kept = std::make_shared<const std::vector<T>>(std::move(values));
  return shared_array<T>({static_cast<pybind11::ssize_t>(kept->size())}, kept->data(), kept);
}

/// A new matrix to fill here and to hand to Python, where it is writable.
template <class T>
class NewMatrix {
 public:
  NewMatrix(std::int64_t rows, std::int64_t cols)
      : rows_(rows),
        cols_(cols),
        elements_(std::make_shared_for_overwrite<T[]>(static_cast<std::size_t>(rows * cols))) {}

  [[nodiscard]] T* data() { return elements_.get(); }
  [[nodiscard]] MatrixView<T> view() { return {data(), rows_, cols_, cols_}; }
  [[nodiscard]] pybind11::object array() const {
    return as_array({elements_, elements_.get(), {rows_, cols_}, letter_of<T>(), sizeof(T), false});
  }

 private:
  std::int64_t rows_;
  std::int64_t cols_;
  std::shared_ptr<T[]> elements_;
};

/// The arrays of a matrix, sharing its memory.
CsrArrays shared_csr(CsrView matrix, const std::shared_ptr<const void>& owner);

/// Conversions between ids and Python's texts.
Ids ids_of(const std::vector<std::string>& texts);
pybind11::list texts_of(const Ids& ids);

}  // namespace poise::python
