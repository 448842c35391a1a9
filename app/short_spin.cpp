#include "short_spin.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace poise::app {

void restart_with_short_spin(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  // Under valgrind, qemu or a loader called by name the running file is another one.
  std::error_code error;
  const std::filesystem::path running = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error || argv[0] == nullptr || running.filename() != std::filesystem::path(argv[0]).filename()) return;
  // Some 50 microseconds: as fast on an idle machine as the runtime's own 300 000.
  if (setenv("GOMP_SPINCOUNT", "1000", 1) == 0) execv("/proc/self/exe", argv);
}

}  // namespace poise::app
