#include "poise/backend/blas_kernel.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace poise {
namespace {

/// Kernels by the registers they use. Those that are not listed, of later versions of OpenBLAS or of other
/// processors, are never replaced.
enum class Width { sse, avx, avx2, avx512, unknown };

struct Core {
  std::string_view name;
  Width width;
};

constexpr std::array known_cores = {
    Core{"Katmai", Width::sse},       Core{"Coppermine", Width::sse},  Core{"Northwood", Width::sse},
    Core{"Prescott", Width::sse},     Core{"Banias", Width::sse},      Core{"Atom", Width::sse},
    Core{"Core2", Width::sse},        Core{"Penryn", Width::sse},      Core{"Dunnington", Width::sse},
    Core{"Nehalem", Width::sse},      Core{"Athlon", Width::sse},      Core{"Opteron", Width::sse},
    Core{"Opteron_SSE3", Width::sse}, Core{"Barcelona", Width::sse},   Core{"Bobcat", Width::sse},
    Core{"Nano", Width::sse},         Core{"Sandybridge", Width::avx}, Core{"Bulldozer", Width::avx},
    Core{"Piledriver", Width::avx},   Core{"Steamroller", Width::avx}, Core{"Excavator", Width::avx},
    Core{"Haswell", Width::avx2},     Core{"Zen", Width::avx2},        Core{"SkylakeX", Width::avx512},
};

/// The families of AMD: 23 is the first Zen, and 26 the first whose units are 512 bits wide. Zen 4 computes
/// 512 bits in two halves: its products are as fast with Zen's kernels, and its small solves faster
/// (docs/benchmarks.md).
constexpr int first_zen = 23;
constexpr int first_wide_zen = 26;

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

Width width_of(std::string_view name) {
  const auto* const core =
      std::ranges::find_if(known_cores, [&](const Core& each) { return same_name(each.name, name); });
  return core == known_cores.end() ? Width::unknown : core->width;
}

bool wide(const Processor& processor) {
  return processor.avx512 && (processor.vendor != Vendor::amd || processor.family >= first_wide_zen);
}

}  // namespace

Processor this_processor() {
  Processor processor;
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) != 0) {
    std::array<char, 12> name{};
    std::memcpy(name.data(), &b, 4);
    std::memcpy(name.data() + 4, &d, 4);
    std::memcpy(name.data() + 8, &c, 4);
    const std::string_view vendor(name.data(), name.size());
    if (vendor == "GenuineIntel") processor.vendor = Vendor::intel;
    if (vendor == "AuthenticAMD") processor.vendor = Vendor::amd;
  }
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) {
    const unsigned family = a >> 8 & 0xF;
    processor.family = static_cast<int>(family == 0xF ? family + (a >> 20 & 0xFF) : family);
  }
  // The compiler's functions also check that the operating system saves the registers.
  __builtin_cpu_init();
  processor.avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  processor.avx512 = processor.avx2 && __builtin_cpu_supports("avx512f") != 0 &&
                     __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                     __builtin_cpu_supports("avx512vl") != 0;
#endif
  return processor;
}

std::string_view best_core(const Processor& processor) {
  if (wide(processor)) return "SkylakeX";
  if (!processor.avx2) return {};
  if (processor.vendor != Vendor::amd) return "Haswell";
  return processor.family >= first_zen ? "Zen" : "";
}

std::string_view better_core(const Processor& processor, std::string_view reported) {
  const std::string_view best = best_core(processor);
  return best.empty() || width_of(reported) >= width_of(best) ? std::string_view() : best;
}

std::string_view deciding_features(const Processor& processor) {
  if (wide(processor)) return "AVX-512";
  return processor.avx2 ? "AVX2 and FMA" : "";
}

}  // namespace poise
