#include "poise/comm/launcher.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "poise/base/error.hpp"
#include "poise/comm/plugin.hpp"

namespace poise {
namespace {

std::optional<int> number_in(const char* text) {
  if (text == nullptr) return {};
  const std::string_view digits = text;
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 1) return {};
  return number;
}

}  // namespace

std::optional<Launch> find_launch(const std::function<const char*(const char*)>& variable) {
  if (const auto size = number_in(variable("OMPI_COMM_WORLD_SIZE")))
    return Launch{.by = "OMPI_COMM_WORLD_SIZE", .size = size};
  const auto pmi_size = number_in(variable("PMI_SIZE"));
  if (variable("PMIX_RANK") != nullptr) return Launch{.by = "PMIX_RANK", .size = pmi_size};
  if (variable("PMI_RANK") != nullptr && pmi_size) return Launch{.by = "PMI_RANK", .size = pmi_size};
  return {};
}

std::optional<Launch> find_launch() {
  return find_launch([](const char* name) -> const char* { return std::getenv(name); });
}

std::unique_ptr<Processes> start_processes() {
  const std::optional<Launch> launch = find_launch();
  if (!launch) return std::make_unique<Processes>();
  if (launch->size == 1) return std::make_unique<Processes>(nullptr);
  std::unique_ptr<Transport> transport = load_mpi();
  if (launch->size && *launch->size != transport->size()) {
    fail(ErrorKind::resources,
         "{} says that {} processes were started, but {} sees {}; start them with its own mpirun, or with "
         "srun --mpi=pmix",
         launch->by, *launch->size, transport->library(), transport->size());
  }
  return std::make_unique<Processes>(std::move(transport));
}

}  // namespace poise
