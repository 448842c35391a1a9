#pragma once

#include <string>
#include <string_view>

#include "poise/backend/backend.hpp"
#include "poise/backend/early_gpu.hpp"

namespace poise {

/// What a user asks for: `--device auto|cpu|cuda`.
enum class DeviceChoice { automatic, cpu, cuda };

/// "auto", "cpu", "cuda"; Error{usage} for anything else.
DeviceChoice parse_device(std::string_view name);

/// Whether this build can use a GPU.
bool built_with_cuda();

/// Operations of a matrix product (a gathered one counts as several) from which on a GPU gains: below, a
/// processor is done before a GPU has been started and given the data.
constexpr double worth_a_gpu = 3e11;

/// A backend to make, and a sentence about why that one; of cuda it names the GPU.
struct ChosenDevice {
  BackendKind kind = BackendKind::cpu;
  std::string reason;
};

/// What there is to do, about.
struct Work {
  double operations = 0;
  double gpu_bytes = 0;  ///< of memory, if a GPU does it
};

/// The processor or the GPU, for this work. Where the choice is automatic: the GPU if this build can use one,
/// there is one, the work gains, and fits into what is free of its memory. Error{resources}, saying why,
/// where cuda is asked for and cannot be had.
ChosenDevice choose_device(DeviceChoice choice, const Work& work);
/// The same where a GPU may have been started already.
ChosenDevice choose_device(DeviceChoice choice, const Work& work, EarlyGpu& early);

}  // namespace poise
