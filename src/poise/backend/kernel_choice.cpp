#include "poise/backend/kernel_choice.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <strings.h>

namespace poise {
namespace {

/// Good kernels reach about 0.8 of the speed of the processor's units, those for SSE3 0.2 to 0.3.
constexpr double small_part = 0.4;

}  // namespace

KernelChoice kernel_choice(const Processor& processor, const std::string& core, const char* wanted,
                           const char* found) {
  KernelChoice choice{.core = core,
                      .by = "openblas",
                      .found = {},
                      .better = std::string(better_core(processor, core)),
                      .why = "chosen by OpenBLAS"};
  if (wanted != nullptr && found != nullptr) {
    choice.by = "poise";
    choice.found = found;
    choice.why =
        fmt::format("chosen by Poise: the processor has {}, and OpenBLAS, which does not know it, took {}",
                    deciding_features(processor), found);
  } else if (wanted != nullptr) {
    choice.by = "environment";
    choice.why = "as OPENBLAS_CORETYPE says";
  }
  if (wanted != nullptr && strcasecmp(wanted, core.c_str()) != 0)
    choice.why += fmt::format("; this OpenBLAS has none for {}", wanted);
  if (!choice.better.empty())
    choice.why += fmt::format("; {} would be faster, as the processor has {}", choice.better,
                              deciding_features(processor));
  return choice;
}

std::string slow_products(const KernelSpeed& speed, const KernelChoice& choice) {
  const double part = speed.product / speed.multiply_add;
  if (part >= small_part) return {};
  return fmt::format(
      "warning: matrix products run at {:.2f} of what this processor can do, by OpenBLAS' kernels for {} "
      "({})",
      part, choice.core, choice.why);
}

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
