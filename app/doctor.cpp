#include <fmt/format.h>

#include "poise/backend/cuda/cuda.hpp"
#include "poise/backend/kernel_choice.hpp"
#include "poise/base/memory.hpp"
#include "poise/base/version.hpp"

#include "command.hpp"
#include "product_speed.hpp"

namespace poise::app {

namespace {

constexpr const char* of_cgroup = "the limit of its control group";

std::string memory_source() { return total_memory() < machine_memory() ? of_cgroup : "the machine's"; }

/// Where the number comes from: the machine and the control group by default; --memory-limit can lower it.
std::string threads_source(int threads) {
  if (threads != Execution::default_threads()) return "as --threads or --memory-limit say";
  return threads < usable_cores() ? of_cgroup : "the cores this process may use";
}

/// The kernels, who chose them, and their speed in float32 on one core.
Json kernels_json(const KernelChoice& choice, const KernelSpeed& speed) {
  Json json = {{"core", choice.core},
               {"chosen_by", choice.by},
               {"why", choice.why},
               {"product_gflops", speed.product * 1e-9},
               {"peak_gflops", speed.multiply_add * 1e-9}};
  if (!choice.found.empty()) json["found"] = choice.found;
  if (!choice.better.empty()) json["better"] = choice.better;
  return json;
}

std::string kernels_text(const KernelChoice& choice, const KernelSpeed& speed) {
  return fmt::format(
      "kernels  {}, {}\n"
      "speed    products {:.0f} GFLOP/s a core in float32: {:.2f} of the {:.0f} that its multiply-add units "
      "reach\n",
      choice.core, choice.why, speed.product * 1e-9, speed.product / speed.multiply_add,
      speed.multiply_add * 1e-9);
}

Json cuda_json(const CudaInfo& info) {
  Json json = {{"built", info.built}, {"devices", Json::array()}};
  for (const CudaDevice& device : info.devices) {
    json["devices"].push_back({{"name", device.name},
                               {"memory_bytes", device.memory_bytes},
                               {"free_bytes", device.free_bytes},
                               {"compute_capability", fmt::format("{}.{}", device.major, device.minor)}});
  }
  if (info.built && !info.problem.empty()) json["problem"] = info.problem;
  return json;
}

std::string cuda_text(const CudaInfo& info) {
  if (!info.built) return "gpu      none: built without CUDA\n";
  if (info.devices.empty()) return fmt::format("gpu      none: {}\n", info.problem);
  std::string text;
  for (const CudaDevice& device : info.devices) {
    text += fmt::format(
        "gpu      {}, compute capability {}.{}, {:.1f} GB{}\n", device.name, device.major, device.minor,
        static_cast<double>(device.memory_bytes) * 1e-9,
        text.empty() ? fmt::format(", of which {:.1f} GB are free; used for work that gains (--device)",
                                   static_cast<double>(device.free_bytes) * 1e-9)
                     : "; not used");
  }
  return text;
}

void run_doctor(const Context& context) {
  const std::uint64_t memory = total_memory();
  const CudaInfo cuda = cuda_info();
  const KernelChoice kernels = kernel_choice();
  const KernelSpeed speed = kernel_speed();
  const Json result = {{"version", version()},
                       {"blas", blas_description()},
                       {"kernels", kernels_json(kernels, speed)},
                       {"threads", context.execution.threads},
                       {"threads_from", threads_source(context.execution.threads)},
                       {"memory_bytes", memory},
                       {"memory_from", memory_source()},
                       {"memory_limit_bytes", context.memory_limit},
                       {"cuda", cuda_json(cuda)}};
  context.print(
      result,
      fmt::format("version  poise {}\n"
                  "blas     {}\n"
                  "{}threads  {}, {} (--threads; results do not depend on it)\n"
                  "memory   {:.1f} GB in all, {}, of which at most {:.1f} GB are used (--memory-limit)\n"
                  "{}",
                  version(), blas_description(), kernels_text(kernels, speed), context.execution.threads,
                  threads_source(context.execution.threads), static_cast<double>(memory) * 1e-9,
                  memory_source(), static_cast<double>(context.memory_limit) * 1e-9, cuda_text(cuda)));
}

}  // namespace

Run setup_doctor(CLI::App& parser) {
  parser.footer("Example:\n  poise doctor\n  poise doctor --json");
  return run_doctor;
}

}  // namespace poise::app
