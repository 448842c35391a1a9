#include "poise/backend/choose.hpp"

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"

namespace poise {

DeviceChoice parse_device(std::string_view name) {
  if (name == "auto") return DeviceChoice::automatic;
  if (name == "cpu") return DeviceChoice::cpu;
  if (name == "cuda") return DeviceChoice::cuda;
  fail(ErrorKind::usage, "there is no device \"{}\"; there are auto, cpu and cuda", name);
}

bool built_with_cuda() {
#ifdef POISE_CUDA
  return true;
#else
  return false;
#endif
}

ChosenDevice choose_device(DeviceChoice choice, const Work& work) {
  EarlyGpu none;
  return choose_device(choice, work, none);
}

ChosenDevice choose_device(DeviceChoice choice, const Work& work, EarlyGpu& early) {
  if (choice == DeviceChoice::cpu) return {BackendKind::cpu, "it was asked for"};
  // To look for a GPU starts its driver, which takes time.
  if (choice == DeviceChoice::automatic && work.operations < worth_a_gpu)
    return {BackendKind::cpu, "the work is too small to gain from a GPU"};
  const CudaInfo info = early.info();
  if (!info.devices.empty()) {
    const CudaDevice& gpu = info.devices.front();
    if (choice == DeviceChoice::cuda) return {BackendKind::cuda, gpu.name};
    if (work.gpu_bytes > static_cast<double>(gpu.free_bytes)) {
      const auto [needed, there] = compared_bytes(work.gpu_bytes, static_cast<double>(gpu.free_bytes));
      return {BackendKind::cpu,
              fmt::format("the work needs about {} of a GPU's memory, and of the {}'s {} are free", needed,
                          gpu.name, there)};
    }
    return {BackendKind::cuda, fmt::format("{}, for about {:.0e} operations", gpu.name, work.operations)};
  }
  if (choice == DeviceChoice::cuda)
    fail(ErrorKind::resources, "{} cuda: {}; or use {} cpu", "device"_p, info.problem, "device"_p);
  return {BackendKind::cpu, info.problem};
}

}  // namespace poise
