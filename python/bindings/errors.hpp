#pragma once

#include <pybind11/pybind11.h>

namespace poise::python {

/// Translates an Error into a Python exception with the library's sentence, in which parameters have their
/// keyword names: ValueError (usage, input), OSError (files), MemoryError (resources), KeyboardInterrupt, or
/// NumericalError, which is added to the module.
void bind_errors(pybind11::module_& module);

}  // namespace poise::python
