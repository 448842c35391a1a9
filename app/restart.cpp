#include "restart.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

#include "poise/backend/blas_kernel.hpp"
#include "poise/backend/kernel_choice.hpp"

namespace poise::app {

namespace {

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

bool set_variable(const char* name, const std::string& value) { return setenv(name, value.c_str(), 1) == 0; }

bool set_short_spin() {
  if (is_set("OMP_WAIT_POLICY") || is_set("GOMP_SPINCOUNT")) return false;
  // Some 50 microseconds: as fast on an idle machine as the runtime's default of 300 000.
  return set_variable("GOMP_SPINCOUNT", "1000");
}

bool set_better_kernels() {
  if (is_set("OPENBLAS_CORETYPE")) return false;
  const std::string found = blas_core();
  const std::string better(better_core(this_processor(), found));
  return !better.empty() && set_variable(core_found_variable, found) &&
         set_variable("OPENBLAS_CORETYPE", better);
}

}  // namespace

void restart_with_settings(char** argv, bool works_in_rounds) {
  // Under valgrind, qemu or a loader called by name, the running file is not the program.
  std::error_code error;
  const std::filesystem::path running = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error || argv[0] == nullptr || running.filename() != std::filesystem::path(argv[0]).filename()) return;
  const bool spin = works_in_rounds && set_short_spin();
  const bool kernels = set_better_kernels();
  if (spin || kernels) execv("/proc/self/exe", argv);
}

}  // namespace poise::app
