#pragma once

#include <functional>

#include "poise/backend/choose.hpp"

#include "command.hpp"

namespace poise::app {

/// The device of --device for this work (computed only if needed). If there was a choice, says which device
/// and why.
BackendKind device_for(const std::function<Work()>& work, const Context& context);

/// Starts the GPU while the data are read, if this number of operations, known before, shows that it will be
/// used.
EarlyGpu early_gpu_for(double operations, CudaReady ready, const Context& context,
                       std::function<void(Backend&)> then = {});

/// The backend of that device, for commands that train.
std::unique_ptr<Backend> backend_for(const std::function<Work()>& work, const Context& context,
                                     EarlyGpu early = {});

/// For commands that only score: the GPU's backend, or null for the processor, which needs none.
std::unique_ptr<Backend> scoring_backend_for(const std::function<Work()>& work, const Context& context,
                                             EarlyGpu early = {});

/// Called last by a command. If a GPU was used the program ends here, unless other processes wait for it: the
/// system frees the GPU's context faster than the driver does piece by piece.
void end_after_gpu(const Backend* backend, const Context& context);

}  // namespace poise::app
