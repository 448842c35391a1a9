#include <pybind11/pybind11.h>

#include "poise/base/memory.hpp"
#include "poise/base/parallel.hpp"
#include "poise/base/version.hpp"

#include "errors.hpp"
#include "parts.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_poise, module) {
  module.doc() = "What the package poise is made of; use that.";
  module.attr("__version__") = std::string(poise::version());
  module.def("default_threads", &poise::Execution::default_threads);
  module.def("total_memory", &poise::total_memory);
  module.def("peak_memory", &poise::peak_memory);
  poise::python::bind_errors(module);
  poise::python::bind_memory(module);
  poise::python::bind_inspect(module);
  poise::python::bind_data(module);
  poise::python::bind_arrow(module);
  poise::python::bind_model(module);
  poise::python::bind_parameters(module);
  poise::python::bind_train(module);
  poise::python::bind_update(module);
  poise::python::bind_search(module);
  poise::python::bind_study(module);
  poise::python::bind_serve(module);
}
