#include "device.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "poise/base/memory.hpp"

#include "exit_code.hpp"

namespace poise::app {

namespace {

std::string sentence(const ChosenDevice& chosen) {
  return fmt::format("device: {}; {}", to_string(chosen.kind), chosen.reason);
}

/// The device, and whether there was a choice.
std::pair<ChosenDevice, bool> chosen_for(const std::function<Work()>& work, const Context& context,
                                         EarlyGpu& early) {
  const DeviceChoice choice = parse_device(context.device);
  const bool undecided = choice == DeviceChoice::automatic && built_with_cuda();
  return {choose_device(choice, undecided ? work() : Work{}, early), undecided};
}

BackendKind announced_device(const std::function<Work()>& work, const Context& context, EarlyGpu& early) {
  const auto [chosen, undecided] = chosen_for(work, context, early);
  if (undecided || chosen.kind == BackendKind::cuda) context.say(sentence(chosen));
  return chosen.kind;
}

/// The backend that was started early, if it is the chosen one.
std::unique_ptr<Backend> backend_of(BackendKind kind, const Context& context, EarlyGpu& early) {
  if (kind == BackendKind::cuda) {
    if (std::unique_ptr<Backend> started = early.take()) return started;
  }
  return make_backend(kind, context.execution.threads, context.execution.observer);
}

}  // namespace

BackendKind device_for(const std::function<Work()>& work, const Context& context) {
  EarlyGpu none;
  return announced_device(work, context, none);
}

EarlyGpu early_gpu_for(double operations, CudaReady ready, const Context& context,
                       std::function<void(Backend&)> then) {
  const DeviceChoice choice = parse_device(context.device);
  if (!built_with_cuda() || choice == DeviceChoice::cpu) return {};
  if (choice == DeviceChoice::automatic && operations < worth_a_gpu) return {};
  return {context.execution.threads, context.execution.observer, ready, std::move(then)};
}

std::unique_ptr<Backend> backend_for(const std::function<Work()>& work, const Context& context,
                                     EarlyGpu early) {
  return backend_of(announced_device(work, context, early), context, early);
}

void end_after_gpu(const Backend* backend, const Context& context) {
  if (context.ranks.value_or(1) > 1) return;
  if (backend != nullptr && backend->traits().own_memory) std::_Exit(exit_done);
}

std::unique_ptr<Backend> scoring_backend_for(const std::function<Work()>& work, const Context& context,
                                             EarlyGpu early) {
  const ChosenDevice chosen = chosen_for(work, context, early).first;
  if (chosen.kind != BackendKind::cpu) {
    context.say(sentence(chosen));
    return backend_of(chosen.kind, context, early);
  }
  // Limited only now, if a GPU was possible: its driver reserves far more addresses than memory.
  limit_memory(context.memory_limit);
  return nullptr;
}

}  // namespace poise::app
