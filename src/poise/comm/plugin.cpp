#include "poise/comm/plugin.hpp"

#include <string>
#include <system_error>

#include <dlfcn.h>

#include "poise/base/error.hpp"
#include "poise/base/version.hpp"

namespace poise {

std::filesystem::path mpi_plugin() {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return program.parent_path().parent_path() / POISE_LIBDIR / "poise" / "poise_mpi.so";
}

std::unique_ptr<Transport> load_mpi() {
  const std::filesystem::path path = mpi_plugin();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    fail(ErrorKind::resources,
         "several processes were started, but this program was built without MPI ({} is missing): each would "
         "write the same files; build it where libopenmpi-dev is installed, or start one process",
         path.string());
  }
  // MPI's own plug-ins use its symbols. Never closed: MPI cannot be started twice.
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    fail(ErrorKind::resources, "MPI cannot be loaded: {}; install openmpi-bin, or start one process",
         ::dlerror());
  }
  auto* const start = reinterpret_cast<StartMpi*>(::dlsym(library, start_mpi_name));
  if (start == nullptr) fail(ErrorKind::resources, "{} is not a plug-in of Poise", path.string());
  const char* why = "";
  std::unique_ptr<Transport> transport(start(std::string(version()).c_str(), &why));
  if (!transport) fail(ErrorKind::resources, "MPI cannot be started: {}", why);
  return transport;
}

}  // namespace poise
