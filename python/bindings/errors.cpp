#include "errors.hpp"

#include <filesystem>

#include "poise/base/error.hpp"
#include "poise/train/parameter_table.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

PyObject* exception_for(const Error& error, PyObject* numerical) {
  if (dynamic_cast<const FileError*>(&error) != nullptr) return PyExc_OSError;
  switch (error.kind()) {
    case ErrorKind::usage:
    case ErrorKind::input:
      return PyExc_ValueError;
    case ErrorKind::resources:
      return PyExc_MemoryError;
    case ErrorKind::interrupted:
      return PyExc_KeyboardInterrupt;
    case ErrorKind::numerical:
      break;
  }
  return numerical;
}

PyObject* numerical_error = nullptr;

}  // namespace

void bind_errors(py::module_& module) {
  numerical_error = PyErr_NewExceptionWithDoc(
      "poise.NumericalError", "The mathematics failed: a system is singular, or a score is not a number.",
      PyExc_ArithmeticError, nullptr);
  module.add_object("NumericalError", py::reinterpret_borrow<py::object>(numerical_error));
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyErr_SetString(exception_for(error, numerical_error),
                      with_names(error.sentence(), keyword_name).c_str());
    } catch (const std::filesystem::filesystem_error& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
}

}  // namespace poise::python
