#include "product_speed.hpp"

#include <cstdlib>

#include "poise/backend/kernel_choice.hpp"

#include "restart.hpp"

namespace poise::app {

KernelChoice kernel_choice() {
  return poise::kernel_choice(this_processor(), blas_core(), std::getenv("OPENBLAS_CORETYPE"),
                              std::getenv(core_found_variable));
}

void warn_if_slow(const Backend& backend, const Context& context) {
  if (backend.traits().own_memory) return;
  const std::string warning = slow_products(kernel_speed(), kernel_choice());
  if (!warning.empty()) context.say(warning);
}

}  // namespace poise::app
