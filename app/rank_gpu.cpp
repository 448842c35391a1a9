#include "rank_gpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include "poise/base/error.hpp"

namespace poise::app {

namespace {

constexpr const char* visible_variable = "CUDA_VISIBLE_DEVICES";
constexpr const char* driver_folder = "/proc/driver/nvidia/gpus";

}  // namespace

std::vector<std::string> gpus_of(const char* listed, const std::filesystem::path& driver_folder) {
  std::vector<std::string> gpus;
  if (listed == nullptr) {
    std::error_code ignored;
    for (const auto& each : std::filesystem::directory_iterator(driver_folder, ignored)) {
      static_cast<void>(each);
      gpus.push_back(fmt::format("{}", gpus.size()));
    }
    return gpus;
  }
  const std::string text = listed;
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t end = std::min(text.find(',', first), text.size());
    const std::string name = text.substr(first, end - first);
    if (name.empty() || name.starts_with('-')) break;  // CUDA reads no further
    gpus.push_back(name);
    first = end + 1;
  }
  return gpus;
}

std::vector<std::string> visible_gpus() { return gpus_of(std::getenv(visible_variable), driver_folder); }

std::string gpu_of(const std::vector<Rank>& ranks, int rank) {
  const auto shares = [](const Rank& one, const Rank& other) {
    return one.host == other.host && one.gpus == other.gpus;
  };
  for (const Rank& each : ranks) {
    const auto sharing = std::ranges::count_if(ranks, [&](const Rank& other) { return shares(each, other); });
    if (each.gpus.empty() || sharing <= std::ssize(each.gpus)) continue;
    fail(ErrorKind::usage,
         "--device cuda: {} has {} GPU{} for {} processes; start one for each GPU "
         "(mpirun --map-by ppr:{}:node), or give --device cpu",
         each.host, each.gpus.size(), each.gpus.size() == 1 ? "" : "s", sharing, each.gpus.size());
  }
  const auto own = ranks.begin() + rank;
  if (own->gpus.empty()) return "";
  const auto before =
      std::count_if(ranks.begin(), own, [&](const Rank& other) { return shares(*own, other); });
  return own->gpus[static_cast<std::size_t>(before)];
}

void use_own_gpu(const std::vector<Rank>& ranks, int rank) {
  const std::string own = gpu_of(ranks, rank);
  if (!own.empty()) setenv(visible_variable, own.c_str(), 1);
}

}  // namespace poise::app
