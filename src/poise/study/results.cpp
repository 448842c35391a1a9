#include "poise/study/results.hpp"

#include <algorithm>

namespace poise {

const Estimate* find(const Estimates& estimates, std::string_view metric) {
  const auto found = std::ranges::find(estimates, metric, &Estimates::value_type::first);
  return found == estimates.end() ? nullptr : &found->second;
}

const StudyRow* best_on_validation(const StudyResults& results, std::string_view data) {
  const StudyRow* best = nullptr;
  double highest = 0;
  for (const StudyRow& row : results.rows) {
    const Estimate* const estimate = row.data == data ? find(row.validation, results.choice) : nullptr;
    if (estimate == nullptr || (best != nullptr && !(estimate->mean > highest))) continue;
    best = &row;
    highest = estimate->mean;
  }
  return best;
}

}  // namespace poise
