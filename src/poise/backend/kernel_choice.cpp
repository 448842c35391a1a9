#include "poise/backend/kernel_choice.hpp"

#include <fmt/format.h>
#include <strings.h>

namespace poise {
namespace {

/// Good kernels reach about 0.8 of what the processor's units can do, those of SSE3 0.2 to 0.3.
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

}  // namespace poise
