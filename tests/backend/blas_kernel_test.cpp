#include "poise/backend/blas_kernel.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "poise/backend/kernel_choice.hpp"

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

TEST(KernelChoice, SaysWhoChoseAndWhy) {
  const Processor wide = known.front().processor;
  const KernelChoice own = kernel_choice(wide, "SkylakeX", nullptr, nullptr);
  EXPECT_EQ(own.by, "openblas");
  EXPECT_EQ(own.better, "");
  const KernelChoice chosen = kernel_choice(wide, "SkylakeX", "SkylakeX", "Prescott");
  EXPECT_EQ(chosen.by, "poise");
  EXPECT_EQ(chosen.found, "Prescott");
  EXPECT_NE(chosen.why.find("AVX-512"), std::string::npos) << chosen.why;
  const KernelChoice asked = kernel_choice(wide, "Haswell", "HASWELL", nullptr);
  EXPECT_EQ(asked.by, "environment");
  EXPECT_EQ(asked.better, "SkylakeX");
  EXPECT_EQ(asked.why.find("has none"), std::string::npos) << asked.why;
  const KernelChoice missing = kernel_choice(wide, "Haswell", "SkylakeX", "Haswell");
  EXPECT_NE(missing.why.find("has none for SkylakeX"), std::string::npos) << missing.why;
}

TEST(KernelChoice, OnlyASmallPartOfTheSpeedIsWarnedAbout) {
  const KernelChoice choice = kernel_choice(known.front().processor, "Prescott", nullptr, nullptr);
  EXPECT_EQ(slow_products({.product = 80e9, .multiply_add = 100e9}, choice), "");
  EXPECT_EQ(slow_products({.product = 45e9, .multiply_add = 100e9}, choice), "");
  const std::string warning = slow_products({.product = 20e9, .multiply_add = 100e9}, choice);
  for (const char* const part : {"0.20", "Prescott", "SkylakeX", "AVX-512"})
    EXPECT_NE(warning.find(part), std::string::npos) << warning;
  EXPECT_EQ(warning.find('\n'), std::string::npos);
}

TEST(KernelChoice, SpeedsAreMeasured) {
  const KernelSpeed speed = kernel_speed();
  EXPECT_GT(speed.product, 0);
  EXPECT_GT(speed.multiply_add, 0);
  EXPECT_NE(blas_core(), "");
}

}  // namespace
}  // namespace poise
