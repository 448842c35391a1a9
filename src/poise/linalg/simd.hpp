#pragma once

// Inlined code is compiled for the instruction set of the calling function.
#define POISE_INLINE [[gnu::always_inline]] inline

namespace poise::simd {

enum class Set { plain, avx2, avx512 };

/// The largest instruction set that this processor has.
inline Set processor_set() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return Set::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Set::avx2;
#endif
  return Set::plain;
}

/// A function that is inlined (POISE_INLINE), compiled once for each instruction set.
template <auto kernel, class Function = decltype(kernel)>
struct Compiled;
template <auto kernel, class Result, class... Arguments>
struct Compiled<kernel, Result (*)(Arguments...)> {
  static Result plain(Arguments... arguments) { return kernel(arguments...); }
#ifdef __x86_64__
  [[gnu::target("avx2,fma")]] static Result avx2(Arguments... arguments) { return kernel(arguments...); }
  [[gnu::target("avx512f,avx512dq,avx512vl,avx2,fma")]] static Result avx512(Arguments... arguments) {
    return kernel(arguments...);
  }
#endif
};

/// The version for this processor; a kernel that differs between instruction sets gives up to three
/// functions.
template <auto plain, auto avx2 = plain, auto avx512 = avx2>
auto version() -> decltype(&Compiled<plain>::plain) {
#ifdef __x86_64__
  if (processor_set() == Set::avx512) return &Compiled<avx512>::avx512;
  if (processor_set() == Set::avx2) return &Compiled<avx2>::avx2;
#endif
  return &Compiled<plain>::plain;
}

}  // namespace poise::simd
