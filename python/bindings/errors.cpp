#include "errors.hpp"

#include <array>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "poise/base/error.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> keywords = {{
    {"lambda", "regularization"},
    {"lambda-exponent", "regularization_exponent"},
    {"rank", "factors"},
    {"rounds", "iterations"},
    {"threads", "num_threads"},
}};

std::string keyword(std::string_view flag) {
  for (const auto& [name, text] : keywords) {
    if (name == flag) return std::string(text);
  }
  std::string text(flag);
  for (char& c : text) c = c == '-' ? '_' : c;
  return text;
}

/// The sentence with every --flag as the keyword that Python calls it by.
std::string with_keywords(std::string_view sentence) {
  const auto is_flag = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0 || c == '-'; };
  std::string result;
  for (std::size_t at = 0; at < sentence.size();) {
    const bool flag = sentence.substr(at).starts_with("--") && at + 2 < sentence.size() &&
                      std::islower(static_cast<unsigned char>(sentence[at + 2])) != 0 &&
                      (at == 0 || !is_flag(sentence[at - 1]));
    if (!flag) {
      result += sentence[at++];
      continue;
    }
    std::size_t end = at + 2;
    while (end < sentence.size() && is_flag(sentence[end])) ++end;
    result += keyword(sentence.substr(at + 2, end - at - 2));
    at = end;
  }
  return result;
}

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
      PyErr_SetString(exception_for(error, numerical_error), with_keywords(error.what()).c_str());
    } catch (const std::filesystem::filesystem_error& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
}

}  // namespace poise::python
