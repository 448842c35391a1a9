// Preloaded, lets OpenBLAS seem not to know the processor: unless OPENBLAS_CORETYPE is set it reports
// Prescott.
#include <cstdlib>

#include <dlfcn.h>

extern "C" char* openblas_get_corename() {
  static char prescott[] = "Prescott";
  if (std::getenv("OPENBLAS_CORETYPE") == nullptr) return prescott;
  using Function = char* (*)();
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, "openblas_get_corename"))();
}
