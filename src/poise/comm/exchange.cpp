#include "poise/comm/exchange.hpp"

#include <utility>

namespace poise {

std::vector<std::string> exchange(Processes& processes, std::string own) {
  const int size = processes.size();
  const int rank = processes.rank();
  // Each begins with its successor, so that no one is everybody's first.
  const Bytes shared = shared_bytes(std::move(own));
  for (int k = 1; k < size; ++k) processes.send((rank + k) % size, shared);
  std::vector<std::string> all(static_cast<std::size_t>(size));
  for (int k = 1; k < size; ++k) {
    const int other = (rank + size - k) % size;
    all[static_cast<std::size_t>(other)] = processes.receive(other).bytes;
  }
  processes.flush();
  all[static_cast<std::size_t>(rank)] = *shared;
  return all;
}

}  // namespace poise
