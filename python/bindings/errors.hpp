#pragma once

#include <pybind11/pybind11.h>

namespace poise::python {

/// From now on an Error is a Python exception with the library's sentence, in which flags read as keywords:
/// ValueError (usage, input), OSError (files), MemoryError (resources), KeyboardInterrupt, or NumericalError,
/// which the module gains.
void bind_errors(pybind11::module_& module);

}  // namespace poise::python
