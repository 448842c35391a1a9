#pragma once

#include <string_view>

/// Which of OpenBLAS' kernels suit a processor. OpenBLAS chooses by the processor's model number when it is
/// loaded, and falls back to kernels for SSE3 ("Prescott") where it does not know the number: a third to a
/// fifth of the speed. OPENBLAS_CORETYPE, read at the same moment, names others.
///
/// Nothing here calls OpenBLAS, so that it can be asked before OpenBLAS is loaded.
namespace poise {

enum class Vendor { intel, amd, other };

/// What the choice depends on. The features are those whose registers the operating system saves.
struct Processor {
  Vendor vendor = Vendor::other;
  int family = 0;       ///< with the extended part: 23 is Zen, 25 Zen 3 and 4, 26 Zen 5
  bool avx2 = false;    ///< AVX2 and FMA
  bool avx512 = false;  ///< AVX-512 F, BW, DQ and VL
};

/// The processor that this runs on; one without features where it is not an x86.
Processor this_processor();

/// The core type of OpenBLAS for this processor; empty where none is known to be better than what OpenBLAS
/// takes by itself.
std::string_view best_core(const Processor& processor);

/// The core type to ask for instead of the one that OpenBLAS reports; empty where that one is as good, or is
/// not known here.
std::string_view better_core(const Processor& processor, std::string_view reported);

/// What of the processor the best core makes use of, e.g. "AVX-512".
std::string_view deciding_features(const Processor& processor);

}  // namespace poise
