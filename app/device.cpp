#include "device.hpp"

#include <fmt/format.h>

#include "poise/base/memory.hpp"

namespace poise::app {

namespace {

std::string sentence(const ChosenDevice& chosen) {
  return fmt::format("device: {}; {}", to_string(chosen.kind), chosen.reason);
}

/// The device, and whether there was a choice.
std::pair<ChosenDevice, bool> chosen_for(const std::function<Work()>& work, const Context& context) {
  const DeviceChoice choice = parse_device(context.device);
  const bool undecided = choice == DeviceChoice::automatic && built_with_cuda();
  return {choose_device(choice, undecided ? work() : Work{}), undecided};
}

}  // namespace

BackendKind device_for(const std::function<Work()>& work, const Context& context) {
  const auto [chosen, undecided] = chosen_for(work, context);
  if (undecided || chosen.kind == BackendKind::cuda) context.say(sentence(chosen));
  return chosen.kind;
}

std::unique_ptr<Backend> backend_for(const std::function<Work()>& work, const Context& context) {
  return make_backend(device_for(work, context), context.execution.threads, context.execution.observer);
}

std::unique_ptr<Backend> scoring_backend_for(const std::function<Work()>& work, const Context& context) {
  const ChosenDevice chosen = chosen_for(work, context).first;
  if (chosen.kind != BackendKind::cpu) {
    context.say(sentence(chosen));
    return make_backend(chosen.kind, context.execution.threads, context.execution.observer);
  }
  // Not until now, where a GPU was in question: its driver claims far more addresses than it uses memory.
  limit_memory(context.memory_limit);
  return nullptr;
}

}  // namespace poise::app
