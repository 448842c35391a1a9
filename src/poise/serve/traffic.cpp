#include "poise/serve/traffic.hpp"

#include <algorithm>
#include <utility>

#include <xxhash.h>

#include "poise/base/error.hpp"

namespace poise::serve {

Traffic::Traffic(std::vector<TrafficShare> shares, const ModelSet& models) : shares_(std::move(shares)) {
  double sum = 0;
  for (const TrafficShare& each : shares_) {
    if (find_model(models, each.model) == nullptr)
      fail(ErrorKind::usage, "{} {}: there is no model of this name", "ab"_p, each.model);
    if (std::ranges::count(shares_, each.model, &TrafficShare::model) > 1)
      fail(ErrorKind::usage, "{} {}: the model is named twice", "ab"_p, each.model);
    sum += each.share;
  }
  constexpr double rounding = 1e-9;
  if (sum > 1 + rounding)
    fail(ErrorKind::usage, "{}: the shares add up to {}, which is more than 1", "ab"_p, sum);
}

std::shared_ptr<const ServedModel> Traffic::choose(const ModelSet& models,
                                                   std::optional<std::string_view> visitor) const {
  if (visitor && !shares_.empty()) {
    constexpr double two_to_64 = 18446744073709551616.0;
    double place = static_cast<double>(XXH3_64bits(visitor->data(), visitor->size())) / two_to_64;
    for (const TrafficShare& each : shares_) {
      if (place < each.share) return find_model(models, each.model);
      place -= each.share;
    }
  }
  return models.front();
}

double Traffic::share_of(std::string_view model) const {
  const auto found = std::ranges::find(shares_, model, &TrafficShare::model);
  return found == shares_.end() ? 0 : found->share;
}

}  // namespace poise::serve
