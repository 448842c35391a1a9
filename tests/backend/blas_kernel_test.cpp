#include "poise/backend/blas_kernel.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "poise/backend/blas_info.hpp"

namespace poise {
namespace {

struct Known {
  const char* what;
  Processor processor;
  const char* best;
  std::vector<const char*> kept;  // core types that are as good or better
};

const std::vector<const char*> lesser = {"Prescott",  "Core2",        "Penryn",      "Nehalem",  "Atom",
                                         "Barcelona", "Opteron_SSE3", "Sandybridge", "Excavator"};
/// Of OpenBLAS' later versions, of other processors, and none at all.
const std::vector<const char*> unknown = {"Cooperlake", "SapphireRapids", "GraniteRapids", "Zen5",
                                          "NeoverseN1", "ARMV8",          "unknown",       ""};

const std::vector<Known> known = {
    {"Intel with AVX-512",
     {.vendor = Vendor::intel, .family = 6, .avx2 = true, .avx512 = true},
     "SkylakeX",
     {"SkylakeX"}},
    {"Intel with AVX-512 of a family to come",
     {.vendor = Vendor::intel, .family = 19, .avx2 = true, .avx512 = true},
     "SkylakeX",
     {"SkylakeX"}},
    {"Intel with AVX2",
     {.vendor = Vendor::intel, .family = 6, .avx2 = true},
     "Haswell",
     {"Haswell", "Zen", "SkylakeX"}},
    {"Zen 2", {.vendor = Vendor::amd, .family = 23, .avx2 = true}, "Zen", {"Haswell", "Zen", "SkylakeX"}},
    {"Zen 4, which computes 512 bits in halves",
     {.vendor = Vendor::amd, .family = 25, .avx2 = true, .avx512 = true},
     "Zen",
     {"Haswell", "Zen", "SkylakeX"}},
    {"Zen 5", {.vendor = Vendor::amd, .family = 26, .avx2 = true, .avx512 = true}, "SkylakeX", {"SkylakeX"}},
    {"Zen 5 in a virtual machine without AVX-512",
     {.vendor = Vendor::amd, .family = 26, .avx2 = true},
     "Zen",
     {"Haswell", "Zen", "SkylakeX"}},
    {"another maker's with AVX2",
     {.vendor = Vendor::other, .family = 7, .avx2 = true},
     "Haswell",
     {"Haswell", "Zen", "SkylakeX"}},
};

TEST(BlasKernel, LesserKernelsAreReplaced) {
  for (const Known& each : known) {
    SCOPED_TRACE(each.what);
    EXPECT_EQ(best_core(each.processor), each.best);
    for (const char* const core : lesser) EXPECT_EQ(better_core(each.processor, core), each.best) << core;
    EXPECT_EQ(better_core(each.processor, "PRESCOTT"), each.best);
  }
}

TEST(BlasKernel, KernelsOfAvx2AreReplacedWhereAvx512IsWide) {
  for (const Known& each : known) {
    SCOPED_TRACE(each.what);
    for (const char* const core : {"Haswell", "Zen"}) {
      EXPECT_EQ(better_core(each.processor, core), each.best == std::string("SkylakeX") ? "SkylakeX" : "");
    }
  }
}

TEST(BlasKernel, WhatIsAsGoodOrNotKnownIsLeftAlone) {
  for (const Known& each : known) {
    SCOPED_TRACE(each.what);
    for (const char* const core : each.kept) EXPECT_EQ(better_core(each.processor, core), "") << core;
    for (const char* const core : unknown) EXPECT_EQ(better_core(each.processor, core), "") << core;
  }
}

TEST(BlasKernel, ProcessorsWithoutAvx2KeepWhatTheyHave) {
  const std::vector<Processor> old = {{},
                                      {.vendor = Vendor::intel, .family = 6},
                                      {.vendor = Vendor::amd, .family = 16},
                                      // Excavator has AVX2, in halves, and kernels of its own.
                                      {.vendor = Vendor::amd, .family = 21, .avx2 = true}};
  for (const Processor& processor : old) {
    EXPECT_EQ(best_core(processor), "");
    for (const char* const core : lesser) EXPECT_EQ(better_core(processor, core), "") << core;
  }
}

TEST(BlasKernel, TheBestCoreIsOneThatIsKept) {
  for (const Known& each : known) EXPECT_EQ(better_core(each.processor, best_core(each.processor)), "");
}

}  // namespace
}  // namespace poise
