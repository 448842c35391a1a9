#pragma once

#include <functional>

#include "poise/backend/choose.hpp"

#include "command.hpp"

namespace poise::app {

/// The device that --device asks for, for this work (asked for only where it matters). Says which and why
/// wherever there was a choice.
BackendKind device_for(const std::function<Work()>& work, const Context& context);

/// Starts the GPU while there is something else to do, where so many operations, known before the data are
/// read, show that it will be used.
EarlyGpu early_gpu_for(double operations, CudaReady ready, const Context& context,
                       std::function<void(Backend&)> then = {});

/// That device's backend, for commands that train.
std::unique_ptr<Backend> backend_for(const std::function<Work()>& work, const Context& context,
                                     EarlyGpu early = {});

/// For commands that only score: the GPU, or null for the processor, which needs no backend to score.
std::unique_ptr<Backend> scoring_backend_for(const std::function<Work()>& work, const Context& context,
                                             EarlyGpu early = {});

/// The last word of a command that is done and has told so: where a GPU was used the program ends here, as
/// taking down its context piece by piece takes longer than the system does at once.
void end_after_gpu(const Backend* backend);

}  // namespace poise::app
