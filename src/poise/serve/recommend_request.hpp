#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poise/serve/limits.hpp"
#include "poise/serve/strict_json.hpp"

namespace poise::serve {

/// What POST /v1/recommend asks for, once.
struct RecommendRequest {
  std::optional<std::string> user;  ///< else `history`
  std::vector<std::string> history;
  std::int64_t k = 20;
  std::vector<std::string> exclude;
  std::optional<std::vector<std::string>> only;
  bool explain = false;
  double diversify = 0;  ///< see RecommendOptions
  /// Leave items of the history that the model does not know out, instead of an error.
  bool skip_unknown = false;
  std::optional<std::string> model;
  std::optional<std::string>
      session;  ///< decides, where there is no user, which model of an A/B test answers

  /// What a test of two models splits by: the user, else the session, else nothing.
  [[nodiscard]] std::optional<std::string_view> visitor() const;
};

/// Reads an object; `place`, e.g. "batch[3]: ", begins the messages. A Refusal{400} for a name that there is
/// not or a value of another type, {413} for more items than the limits allow.
RecommendRequest read_recommend_request(const Json& json, const Limits& limits, const std::string& place);

/// The object that every POST sends; Refusal{400} for another value, {413} for too many values.
Json object_of(std::string_view body, const Limits& limits);
/// Refusal{400} for a name of the object that is not one of these.
void refuse_other_names(const Json& json, const std::vector<std::string_view>& names,
                        const std::string& place);
/// An id: a text, or a whole number, as its digits.
std::string id_of(const Json& json, const std::string& what);
/// 1 to the limit.
std::int64_t k_of(const Json& json, const Limits& limits, const std::string& place);

}  // namespace poise::serve
