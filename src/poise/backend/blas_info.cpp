#include "poise/backend/blas_info.hpp"

#include <string_view>

#include <cblas.h>
#include <fmt/format.h>

namespace poise {

std::string blas_description() {
  const std::string_view config = openblas_get_config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
  const std::string_view name = config.substr(0, config.find(' ', config.find(' ') + 1));
  constexpr const char* threading[] = {"sequential", "pthreads", "openmp"};
  const int parallel = openblas_get_parallel();
  return fmt::format("{} ({}, {})", name, blas_core(),
                     parallel >= 0 && parallel <= 2 ? threading[parallel] : "unknown threading");
}

std::string blas_core() { return openblas_get_corename(); }

}  // namespace poise
