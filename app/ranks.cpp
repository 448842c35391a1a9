#include "ranks.hpp"

#include <algorithm>
#include <charconv>
#include <climits>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "poise/backend/kernel_choice.hpp"
#include "poise/base/error.hpp"
#include "poise/base/memory.hpp"
#include "poise/base/version.hpp"
#include "poise/comm/packed.hpp"

#include "option_values.hpp"
#include "rank_gpu.hpp"

namespace poise::app {

namespace {

/// The affinity mask of this process, as the kernel writes it.
std::string processor_list() {
  std::ifstream status("/proc/self/status");
  const std::string_view name = "Cpus_allowed_list:";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t first = line.find_first_not_of(" \t", name.size());
    return first == std::string::npos ? "" : line.substr(first);
  }
  return "";
}

template <class Number>
Number number_of(const std::string& text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Rank this_rank() {
  return {.host = host_name(),
          .version = std::string(version()),
          .kernels = blas_core(),
          .processors = processor_list(),
          .cores = Execution::default_threads(),
          .memory = total_memory(),
          .gpus = visible_gpus()};
}

/// Where a rank differs from the first one.
void refuse_difference(int rank, const std::string& host, const std::string& what, const std::string& here,
                       const std::string& first, const std::string& advice) {
  fail(ErrorKind::resources, "rank {} on {} {} {}, rank 0 {}; {}", rank, host, what, here, first, advice);
}

}  // namespace

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::vector<Rank> meet(Processes& processes) {
  const Rank own = this_rank();
  if (!processes.several()) return {own};
  std::vector<Rank> ranks;
  for (const std::string& message : processes.all_gather(
           packed({own.host, own.version, own.kernels, own.processors, fmt::format("{}", own.cores),
                   fmt::format("{}", own.memory), packed(own.gpus)}))) {
    const std::vector<std::string> parts = unpacked(message);
    ranks.push_back({.host = parts.at(0),
                     .version = parts.at(1),
                     .kernels = parts.at(2),
                     .processors = parts.at(3),
                     .cores = number_of<int>(parts.at(4)),
                     .memory = number_of<std::uint64_t>(parts.at(5)),
                     .gpus = unpacked(parts.at(6))});
  }
  return ranks;
}

void check_same_program(const std::vector<Rank>& ranks) {
  for (std::size_t k = 1; k < ranks.size(); ++k) {
    const auto rank = static_cast<int>(k);
    if (ranks[k].version != ranks[0].version)
      refuse_difference(rank, ranks[k].host, "runs poise", ranks[k].version, ranks[0].version,
                        "install the same version on every host");
    if (ranks[k].kernels != ranks[0].kernels)
      refuse_difference(rank, ranks[k].host, "uses OpenBLAS' kernels for", ranks[k].kernels, ranks[0].kernels,
                        "they round differently: set OPENBLAS_CORETYPE to a type that every host has "
                        "(mpirun -x OPENBLAS_CORETYPE=Haswell)");
  }
}

void check_same_command(const std::string& command, const std::string& by, Processes& processes) {
  if (!processes.several()) return;
  std::vector<std::vector<std::string>> ranks;
  for (const std::string& message : processes.all_gather(packed({host_name(), command, by})))
    ranks.push_back(unpacked(message));
  for (std::size_t k = 1; k < ranks.size(); ++k) {
    if (ranks[k].at(1) == ranks[0].at(1) && ranks[k].at(2) == ranks[0].at(2)) continue;
    const bool same = ranks[k].at(1) == ranks[0].at(1);
    const auto shown = [&](const std::vector<std::string>& of) {
      return fmt::format("`poise {}`{}", of.at(1), same ? " " + of.at(2) : "");
    };
    refuse_difference(static_cast<int>(k), ranks[k].at(0), "runs", shown(ranks[k]), shown(ranks[0]),
                      "start every process with the same command line");
  }
}

void check_same_options(const CLI::App& parser, Processes& processes) {
  std::vector<std::string> own = {host_name()};
  for (const CLI::Option* option : all_options(parser)) {
    const std::string name = option->get_name();
    if (name == "--threads" || name == "--quiet") continue;
    const std::string type = option->get_type_name();
    const bool path = type.starts_with("FILE") || type.starts_with("DIR");
    own.push_back(name);
    own.push_back(path ? fmt::format("{} paths", option->count()) : fmt::format("{}", option->results()));
  }
  const std::vector<std::string> all = processes.all_gather(packed(own));
  const std::vector<std::string> first = unpacked(all[0]);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::vector<std::string> other = unpacked(all[rank]);
    for (std::size_t k = 1; k + 1 < std::min(first.size(), other.size()); k += 2) {
      if (other[k] == first[k] && other[k + 1] == first[k + 1]) continue;
      fail(ErrorKind::resources,
           "rank {} on {} has another {} than rank 0: {}, not {}; start every process with the same command "
           "line and config file",
           rank, other[0], first[k], other[k + 1], first[k + 1]);
    }
  }
}

void check_same_gpus(const std::string& own, Processes& processes) {
  const std::vector<std::string> all = processes.all_gather(packed({own, host_name()}));
  const std::string first = unpacked(all[0]).at(0);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::vector<std::string> other = unpacked(all[rank]);
    if (other.at(0) != first)
      fail(ErrorKind::resources,
           "rank {} on {} has a {}, rank 0 a {}; they round differently: start processes where GPUs are of "
           "one model, or give --device cpu",
           rank, other.at(1), other.at(0), first);
  }
}

int threads_of(const std::vector<Rank>& ranks, int rank) {
  const Rank& own = ranks[static_cast<std::size_t>(rank)];
  const auto sharing = std::ranges::count_if(
      ranks, [&](const Rank& each) { return each.host == own.host && each.processors == own.processors; });
  return std::max(1, own.cores / static_cast<int>(sharing));
}

std::uint64_t memory_of(const std::vector<Rank>& ranks) {
  std::uint64_t least = ranks[0].memory;
  for (const Rank& each : ranks) {
    const auto there = static_cast<std::uint64_t>(std::ranges::count(ranks, each.host, &Rank::host));
    least = std::min(least, each.memory / there);
  }
  return least / 5 * 4;
}

void check_same_data(const std::string& path, const std::string& checksum, const Context& context) {
  if (!context.processes->several()) return;
  const std::vector<std::string> all = context.processes->all_gather(packed({checksum, host_name()}));
  for (std::size_t k = 1; k < all.size(); ++k) {
    const std::vector<std::string> other = unpacked(all[k]);
    if (other.at(0) != unpacked(all[0]).at(0))
      fail(ErrorKind::resources,
           "rank {} on {} reads other data from {} than rank 0; copy the same files to every host", k,
           other.at(1), path);
  }
}

}  // namespace poise::app
