#include "product_speed.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <strings.h>

#include "poise/backend/blas_info.hpp"
#include "poise/backend/blas_kernel.hpp"
#include "poise/backend/cpu/kernel_speed.hpp"

#include "restart.hpp"

namespace poise::app {

namespace {

/// Good kernels reach about 0.8 of what the processor's units can do, those of SSE3 0.2 to 0.3.
constexpr double small_part = 0.4;

}  // namespace

KernelChoice kernel_choice() {
  const Processor processor = this_processor();
  const char* const wanted = std::getenv("OPENBLAS_CORETYPE");
  const char* const found = std::getenv(core_found_variable);
  KernelChoice choice{.core = blas_core(),
                      .by = wanted == nullptr  ? "openblas"
                            : found == nullptr ? "environment"
                                               : "poise",
                      .found = wanted != nullptr && found != nullptr ? found : "",
                      .better = std::string(better_core(processor, blas_core())),
                      .why = {}};
  if (choice.by == "poise") {
    choice.why =
        fmt::format("chosen by Poise, as OpenBLAS does not know this processor and took {}; it has {}",
                    choice.found, deciding_features(processor));
  } else if (choice.by == "environment") {
    choice.why = strcasecmp(wanted, choice.core.c_str()) == 0
                     ? "as OPENBLAS_CORETYPE says"
                     : fmt::format("chosen by OpenBLAS, which has none for OPENBLAS_CORETYPE={}", wanted);
  } else {
    choice.why = "chosen by OpenBLAS";
  }
  if (!choice.better.empty())
    choice.why += fmt::format("; {} would be faster on this processor, which has {}", choice.better,
                              deciding_features(processor));
  return choice;
}

void warn_if_slow(const Backend& backend, const Context& context) {
  if (!backend.on_host()) return;
  const KernelSpeed speed = kernel_speed();
  const double part = speed.product / speed.multiply_add;
  if (part >= small_part) return;
  const KernelChoice choice = kernel_choice();
  context.say(fmt::format(
      "warning: matrix products run at {:.2f} of what this processor can do, by OpenBLAS' {} kernels, {}",
      part, choice.core, choice.why));
}

}  // namespace poise::app
