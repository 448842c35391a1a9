#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "poise/backend/cuda/cuda.hpp"
#include "poise/backend/kernel_choice.hpp"
#include "poise/base/memory.hpp"
#include "poise/base/version.hpp"
#include "poise/comm/plugin.hpp"

#include "command.hpp"
#include "product_speed.hpp"
#include "ranks.hpp"

namespace poise::app {

namespace {

constexpr const char* of_cgroup = "the limit of its control group";

std::string memory_source() { return total_memory() < machine_memory() ? of_cgroup : "the machine's"; }

/// Where the number comes from: the machine and the control group by default; --memory-limit can lower it.
std::string threads_source(int threads, const std::vector<Rank>& ranks) {
  if (ranks.size() > 1 && threads == threads_of(ranks, 0)) return "the first process' share of its cores";
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

/// The processes of the job, and the library between them.
Json mpi_json(const std::vector<Rank>& ranks, const Processes& processes) {
  Json json = {{"built", std::filesystem::exists(mpi_plugin())}};
  if (!processes.several()) return json;
  json["library"] = processes.library();
  json["ranks"] = Json::array();
  for (std::size_t k = 0; k < ranks.size(); ++k)
    json["ranks"].push_back({{"host", ranks[k].host},
                             {"version", ranks[k].version},
                             {"cores", ranks[k].cores},
                             {"processors", ranks[k].processors},
                             {"threads", threads_of(ranks, static_cast<int>(k))},
                             {"kernels", ranks[k].kernels}});
  return json;
}

std::string mpi_text(const std::vector<Rank>& ranks, const Processes& processes) {
  if (!processes.several())
    return std::filesystem::exists(mpi_plugin())
               ? "mpi      built; `mpirun -n P poise ...` starts P processes\n"
               : "mpi      none: built without MPI\n";
  std::string text = fmt::format("mpi      {}, {} ranks\n", processes.library(), ranks.size());
  for (std::size_t k = 0; k < ranks.size(); ++k)
    text += fmt::format("rank {:<3} {}, poise {}, processors {}, {} thread{}, {}\n", k, ranks[k].host,
                        ranks[k].version, ranks[k].processors, threads_of(ranks, static_cast<int>(k)),
                        threads_of(ranks, static_cast<int>(k)) == 1 ? "" : "s", ranks[k].kernels);
  return text;
}

void run_doctor(const Context& context) {
  const std::vector<Rank> ranks = meet(*context.processes);
  if (!context.processes->first()) return check_same_program(ranks);
  const std::uint64_t memory = total_memory();
  const CudaInfo cuda = cuda_info();
  const KernelChoice kernels = kernel_choice();
  const KernelSpeed speed = kernel_speed();
  const Json result = {{"version", version()},
                       {"blas", blas_description()},
                       {"kernels", kernels_json(kernels, speed)},
                       {"threads", context.execution.threads},
                       {"threads_from", threads_source(context.execution.threads, ranks)},
                       {"memory_bytes", memory},
                       {"memory_from", memory_source()},
                       {"memory_limit_bytes", context.memory_limit},
                       {"cuda", cuda_json(cuda)},
                       {"mpi", mpi_json(ranks, *context.processes)}};
  context.print(
      result,
      fmt::format("version  poise {}\n"
                  "blas     {}\n"
                  "{}threads  {}, {} (--threads; results do not depend on it)\n"
                  "memory   {:.1f} GB in all, {}, of which at most {:.1f} GB are used (--memory-limit)\n"
                  "{}{}",
                  version(), blas_description(), kernels_text(kernels, speed), context.execution.threads,
                  threads_source(context.execution.threads, ranks), static_cast<double>(memory) * 1e-9,
                  memory_source(), static_cast<double>(context.memory_limit) * 1e-9, cuda_text(cuda),
                  mpi_text(ranks, *context.processes)));
  check_same_program(ranks);  // after they were shown
}

}  // namespace

Run setup_doctor(CLI::App& parser) {
  parser.footer("Example:\n  poise doctor\n  poise doctor --json");
  return run_doctor;
}

}  // namespace poise::app
