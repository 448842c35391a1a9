#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poise/serve/models.hpp"

namespace poise::serve {

/// A share of the visitors that a model answers.
struct TrafficShare {
  std::string model;
  double share = 0;  ///< above 0, at most 1
};

/// Which model answers whom where a request names none. A visitor (a user's or a session's id) gets the same
/// model every time: its XXH3 as a number in [0, 1) falls into one of the shares, which follow each other
/// from 0; the rest, and whoever has no id, gets the first model.
class Traffic {
 public:
  /// Error{usage} for a model that is not served, named twice, or shares beyond 1.
  Traffic(std::vector<TrafficShare> shares, const ModelSet& models);
  Traffic() = default;

  [[nodiscard]] std::shared_ptr<const ServedModel> choose(const ModelSet& models,
                                                          std::optional<std::string_view> visitor) const;
  [[nodiscard]] double share_of(std::string_view model) const;

 private:
  std::vector<TrafficShare> shares_;
};

}  // namespace poise::serve
