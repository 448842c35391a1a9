#pragma once

#include <string_view>

/// Which of OpenBLAS' kernels suit a processor. OpenBLAS chooses by the processor's model number when it is
/// loaded, and falls back to kernels for SSE3 ("Prescott") if it does not know the number: a third to a
/// fifth of the speed. OPENBLAS_CORETYPE, which it reads at the same time, names other kernels.
///
/// Nothing here calls OpenBLAS, so that it can be used before OpenBLAS is loaded.
namespace poise {

enum class Vendor { intel, amd, other };

/// The properties that the choice depends on. Features count only if the operating system saves their
/// registers.
struct Processor {
  Vendor vendor = Vendor::other;
  int family = 0;       ///< with the extended part: 23 is Zen, 25 Zen 3 and 4, 26 Zen 5
  bool avx2 = false;    ///< AVX2 and FMA
  bool avx512 = false;  ///< AVX-512 F, BW, DQ and VL
};

/// The processor of this machine; one without features if it is not an x86.
Processor this_processor();

/// The core type of OpenBLAS for this processor; empty if none is known to be better than the choice of
/// OpenBLAS.
std::string_view best_core(const Processor& processor);

/// The core type to request instead of the one that OpenBLAS reports; empty if that one is as good or is
/// unknown.
std::string_view better_core(const Processor& processor, std::string_view reported);

/// The processor's features that the best core uses, e.g. "AVX-512".
std::string_view deciding_features(const Processor& processor);

}  // namespace poise
