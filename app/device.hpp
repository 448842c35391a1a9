#pragma once

#include <functional>

#include "poise/backend/choose.hpp"

#include "command.hpp"

namespace poise::app {

/// The device that --device asks for, for this work (asked for only where it matters). Says which and why
/// wherever there was a choice.
BackendKind device_for(const std::function<Work()>& work, const Context& context);

/// That device's backend, for commands that train.
std::unique_ptr<Backend> backend_for(const std::function<Work()>& work, const Context& context);

/// For commands that only score: the GPU, or null for the processor, which needs no backend to score.
std::unique_ptr<Backend> scoring_backend_for(const std::function<Work()>& work, const Context& context);

}  // namespace poise::app
