#include "poise/study/results.hpp"

#include <algorithm>

namespace poise {

std::string_view to_string(RowKind kind) {
  switch (kind) {
    case RowKind::weighted:
      return "weighted";
    case RowKind::down_weighted:
      return "down-weighted";
    case RowKind::unweighted:
      break;
  }
  return "unweighted";
}

const Estimate* find(const Estimates& estimates, std::string_view metric) {
  const auto found = std::ranges::find(estimates, metric, &Estimates::value_type::first);
  return found == estimates.end() ? nullptr : &found->second;
}

}  // namespace poise
