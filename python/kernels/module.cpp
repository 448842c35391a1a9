#include <string>

#include <pybind11/pybind11.h>

#include "poise/backend/blas_kernel.hpp"

// A module of its own, without OpenBLAS: it is loaded before OpenBLAS.
PYBIND11_MODULE(_kernels, module) {
  module.doc() = "Which of OpenBLAS' kernels suit this processor.";
  module.def("better_core", [](const std::string& reported) {
    return std::string(poise::better_core(poise::this_processor(), reported));
  });
}
