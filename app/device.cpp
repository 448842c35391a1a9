#include "device.hpp"

#include <fmt/format.h>

#include "poise/base/memory.hpp"

namespace poise::app {

BackendKind device_for(const std::function<Work()>& work, const Context& context) {
  const DeviceChoice choice = parse_device(context.device);
  const bool undecided = choice == DeviceChoice::automatic && built_with_cuda();
  const ChosenDevice chosen = choose_device(choice, undecided ? work() : Work{});
  if (undecided || chosen.kind == BackendKind::cuda)
    context.say(fmt::format("device: {} ({})", to_string(chosen.kind), chosen.reason));
  return chosen.kind;
}

std::unique_ptr<Backend> backend_for(const std::function<Work()>& work, const Context& context) {
  return make_backend(device_for(work, context), context.execution.threads, context.execution.observer);
}

std::unique_ptr<Backend> scoring_backend_for(const std::function<Work()>& work, const Context& context) {
  const BackendKind kind = device_for(work, context);
  if (kind != BackendKind::cpu)
    return make_backend(kind, context.execution.threads, context.execution.observer);
  // Not until now, where a GPU was in question: its driver claims far more addresses than it uses memory.
  limit_memory(context.memory_limit);
  return nullptr;
}

}  // namespace poise::app
