#include "arrays.hpp"

#include <string_view>

#include "poise/base/error.hpp"

#include "parts.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

/// An object's buffer, released at the end of the scope.
class Buffer {
 public:
  explicit Buffer(const py::handle& object) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_RECORDS_RO) != 0) throw py::error_already_set();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&buffer_); }

  const Py_buffer* operator->() const { return &buffer_; }

  [[nodiscard]] bool holds(char letter) const {
    std::string_view format = buffer_.format == nullptr ? "B" : buffer_.format;
    if (format.starts_with('@')) format.remove_prefix(1);
    // long and long long are the same 64 bits.
    if (format == "q") format = "l";
    if (format == "Q") format = "L";
    return format.size() == 1 && format[0] == letter;
  }

  [[nodiscard]] bool has_gaps() const {
    py::ssize_t expected = buffer_.itemsize;
    for (int axis = buffer_.ndim - 1; axis >= 0; --axis) {
      if (buffer_.shape[axis] > 1 && buffer_.strides[axis] != expected) return true;
      expected *= buffer_.shape[axis];
    }
    return false;
  }

 private:
  Py_buffer buffer_{};
};

}  // namespace

bool has_elements(const py::handle& object, char letter) { return Buffer(object).holds(letter); }

Block block_of(const py::handle& object, char letter, int dimensions) {
  const Buffer buffer(object);
  if (!buffer.holds(letter) || buffer->ndim != dimensions || buffer.has_gaps())
    throw py::type_error("an array of another element type or shape, or with gaps");
  return {buffer->buf, {buffer->shape, buffer->shape + dimensions}};
}

MatrixView<const float> matrix_of(const py::handle& array) {
  const Block block = block_of(array, letter_of<float>(), 2);
  return {static_cast<const float*>(block.data), block.shape[0], block.shape[1], block.shape[1]};
}

CsrView view_of(const CsrArrays& arrays) {
  const auto& [shape, offsets, indices, values] = arrays;
  CsrView view{.rows = shape.first,
               .cols = shape.second,
               .offsets = elements_of<std::int64_t>(offsets),
               .indices = elements_of<std::int32_t>(indices)};
  if (!values.is_none()) view.values = elements_of<float>(values);
  return view;
}

py::object as_array(Memory memory) {
  return py::module_::import("numpy").attr("asarray")(py::cast(std::move(memory)));
}

void bind_memory(py::module_& module) {
  py::class_<Memory>(module, "Memory", py::buffer_protocol()).def_buffer([](const Memory& memory) {
    std::vector<py::ssize_t> strides(memory.shape.size());
    py::ssize_t step = memory.size;
    for (std::size_t axis = strides.size(); axis-- > 0;) {
      strides[axis] = step;
      step *= memory.shape[axis];
    }
    return py::buffer_info(const_cast<void*>(memory.data), memory.size, std::string(1, memory.letter),
                           static_cast<py::ssize_t>(strides.size()), memory.shape, strides, memory.read_only);
  });
}

UserRows rows_of(const UserArrays& users) {
  const auto& [items, disliked, share] = users;
  UserRows rows(view_of(items), disliked ? support_of(view_of(*disliked)) : CsrView(), share);
  if (disliked && (rows.disliked.rows != rows.rows() || rows.disliked.cols != rows.cols()))
    fail(ErrorKind::input, "dislikes is {} x {} but user_items is {} x {}: give them the same shape",
         rows.disliked.rows, rows.disliked.cols, rows.rows(), rows.cols());
  return rows;
}

CsrArrays shared_csr(CsrView matrix, const std::shared_ptr<const void>& owner) {
  const auto vector = [&]<class T>(std::span<const T> elements) {
    return shared_array<T>({static_cast<py::ssize_t>(elements.size())}, elements.data(), owner);
  };
  return {{matrix.rows, matrix.cols},
          vector(matrix.offsets),
          vector(matrix.indices),
          matrix.values.empty() && !matrix.indices.empty() ? py::object(py::none()) : vector(matrix.values)};
}

Ids ids_of(const std::vector<std::string>& texts) {
  Ids ids;
  for (const std::string& text : texts) ids.push_back(text);
  return ids;
}

py::list texts_of(const Ids& ids) {
  py::list texts(ids.size());
  for (std::int64_t k = 0; k < ids.size(); ++k) {
    const std::string_view text = ids[k];
    PyObject* const decoded =
        PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "surrogateescape");
    if (decoded == nullptr) throw py::error_already_set();
    PyList_SET_ITEM(texts.ptr(), k, decoded);
  }
  return texts;
}

}  // namespace poise::python
