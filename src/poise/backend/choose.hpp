#pragma once

#include <string>
#include <string_view>

#include "poise/backend/backend.hpp"
#include "poise/backend/early_gpu.hpp"

namespace poise {

/// The device that a user requests: `--device auto|cpu|cuda`.
enum class DeviceChoice { automatic, cpu, cuda };

/// "auto", "cpu", "cuda"; Error{usage} for anything else.
DeviceChoice parse_device(std::string_view name);

/// Whether this build can use a GPU.
bool built_with_cuda();

/// The least work, in operations of a matrix product (a gathered one counts as several), that is faster on a
/// GPU: with less, the processor is done before a GPU is started and has the data.
constexpr double worth_a_gpu = 3e11;

/// The chosen backend and the reason in words; for cuda the reason names the GPU.
struct ChosenDevice {
  BackendKind kind = BackendKind::cpu;
  std::string reason;
};

/// An estimate of the work.
struct Work {
  double operations = 0;
  double gpu_bytes = 0;  ///< memory that a GPU would need
};

/// Chooses the processor or the GPU. The automatic choice is the GPU if this build supports it, the machine
/// has one, the work is large enough, and its free memory suffices. Error{resources} with the reason if cuda
/// is requested and not available.
ChosenDevice choose_device(DeviceChoice choice, const Work& work);
/// The same if a GPU may have been started already.
ChosenDevice choose_device(DeviceChoice choice, const Work& work, EarlyGpu& early);

}  // namespace poise
