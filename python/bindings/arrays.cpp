#include "arrays.hpp"

namespace py = pybind11;

namespace poise::python {

CsrView view_of(const CsrArrays& arrays) {
  const auto& [shape, offsets, indices, values] = arrays;
  CsrView view{.rows = shape.first,
               .cols = shape.second,
               .offsets = elements_of<std::int64_t>(offsets),
               .indices = elements_of<std::int32_t>(indices)};
  if (!values.is_none()) view.values = elements_of<float>(py::reinterpret_borrow<py::array>(values));
  return view;
}

py::array shared_matrix(MatrixView<const float> matrix, std::shared_ptr<const void> owner) {
  return shared_array<float>({matrix.rows, matrix.cols}, matrix.data, std::move(owner));
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
