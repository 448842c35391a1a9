#pragma once

#include <pybind11/pybind11.h>

/// The parts of the module, one file each.
namespace poise::python {

void bind_memory(pybind11::module_& module);
void bind_inspect(pybind11::module_& module);
void bind_data(pybind11::module_& module);
void bind_arrow(pybind11::module_& module);
void bind_model(pybind11::module_& module);
void bind_train(pybind11::module_& module);
void bind_update(pybind11::module_& module);
void bind_parameters(pybind11::module_& module);
void bind_search(pybind11::module_& module);
void bind_study(pybind11::module_& module);
void bind_serve(pybind11::module_& module);

}  // namespace poise::python
