#include "poise/model/neighbours/gather_columns.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "poise/comm/packed.hpp"

namespace poise {
namespace {

/// Elements [first, last) of a vector, as bytes, and back.
template <class T>
std::string part_of(const std::vector<T>& all, std::int64_t first, std::int64_t last) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(all.data() + first),
          static_cast<std::size_t>(last - first) * sizeof(T)};
}
template <class T>
void put_part(const std::string& bytes, std::vector<T>& all, std::int64_t first) {
  if (!bytes.empty()) std::memcpy(all.data() + first, bytes.data(), bytes.size());
}

}  // namespace

std::pair<std::int64_t, std::int64_t> columns_of(int rank, int processes, std::int64_t items) {
  return {items * rank / processes, items * (rank + 1) / processes};
}

void gather_columns(NeighbourSolution& solution, Processes& processes) {
  NeighbourColumns& columns = solution.columns;
  const std::int64_t k = columns.k;
  const auto [first, last] = columns_of(processes.rank(), processes.size(), columns.count);
  const std::vector<std::string> all = processes.gather(
      packed({part_of(columns.items, first * k, last * k), part_of(columns.values, first * k, last * k),
              part_of(solution.figures, first, last)}));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::vector<std::string> parts = unpacked(all[rank]);
    const std::int64_t from = columns_of(static_cast<int>(rank), processes.size(), columns.count).first;
    put_part(parts.at(0), columns.items, from * k);
    put_part(parts.at(1), columns.values, from * k);
    put_part(parts.at(2), solution.figures, from);
  }
}

}  // namespace poise
