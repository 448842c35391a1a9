#include <fmt/format.h>

#include "poise/backend/blas_info.hpp"
#include "poise/base/memory.hpp"
#include "poise/base/version.hpp"

#include "command.hpp"

namespace poise::app {

namespace {

void run(const Context& context) {
  const std::uint64_t memory = total_memory();
  const Json result = {{"version", version()},
                       {"blas", blas_description()},
                       {"threads", context.execution.threads},
                       {"memory_bytes", memory},
                       {"memory_limit_bytes", context.memory_limit},
                       {"cuda", {{"built", false}, {"devices", Json::array()}}}};
  context.print(
      result,
      fmt::format("version  poise {}\n"
                  "blas     {}\n"
                  "threads  {} (--threads; results do not depend on it)\n"
                  "memory   {:.1f} GB in all, of which at most {:.1f} GB are used (--memory-limit)\n"
                  "gpu      none: built without CUDA\n",
                  version(), blas_description(), context.execution.threads,
                  static_cast<double>(memory) * 1e-9, static_cast<double>(context.memory_limit) * 1e-9));
}

}  // namespace

Run setup_doctor(CLI::App& parser) {
  parser.footer("Example:\n  poise doctor\n  poise doctor --json");
  return run;
}

}  // namespace poise::app
