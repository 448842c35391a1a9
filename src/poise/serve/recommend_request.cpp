#include "poise/serve/recommend_request.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "poise/serve/http.hpp"

namespace poise::serve {
namespace {

[[noreturn]] void bad_field(std::string message) { throw Refusal{400, "bad_field", std::move(message)}; }

bool flag_of(const Json& json, const std::string& what) {
  if (!json.is_boolean()) bad_field(what + " should be true or false");
  return json.get<bool>();
}

double share_of(const Json& json, const std::string& what) {
  const double share = json.is_number() ? json.get<double>() : -1;
  if (!(share >= 0 && share <= 1)) bad_field(what + " should be a number from 0 to 1");
  return share;
}

std::vector<std::string> ids_of(const Json& json, const std::string& what, std::int64_t most) {
  if (!json.is_array()) bad_field(what + " should be a list of item ids");
  if (std::ssize(json) > most)
    throw Refusal{413, "too_many_items",
                  fmt::format("{} has {} items; at most {} are read", what, json.size(), most)};
  std::vector<std::string> result;
  result.reserve(json.size());
  for (const Json& each : json) result.push_back(id_of(each, what));
  return result;
}

}  // namespace

std::optional<std::string_view> RecommendRequest::visitor() const {
  if (user) return *user;
  if (session) return *session;
  return std::nullopt;
}

Json object_of(std::string_view body, const Limits& limits) {
  Json json = parse_strictly(body, limits.json_depth, limits.body_bytes / limits.bytes_of_value);
  if (!json.is_object()) throw Refusal{400, "bad_json", "the body should be a JSON object"};
  return json;
}

void refuse_other_names(const Json& json, const std::vector<std::string_view>& names,
                        const std::string& place) {
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(names, name) == names.end())
      bad_field(fmt::format("{}there is no \"{}\"; there are: {}", place, name, fmt::join(names, ", ")));
  }
}

std::string id_of(const Json& json, const std::string& what) {
  if (json.is_string() && !json.get_ref<const std::string&>().empty()) return json.get<std::string>();
  if (json.is_number_integer()) return json.dump();
  bad_field(what + " should have ids, which are texts or whole numbers");
}

std::int64_t k_of(const Json& json, const Limits& limits, const std::string& place) {
  if (!json.is_number_integer()) bad_field(place + "k should be a whole number");
  const bool fits = json.is_number_unsigned() && json.get<std::uint64_t>() >= 1 &&
                    std::cmp_less_equal(json.get<std::uint64_t>(), limits.k);
  if (!fits) bad_field(fmt::format("{}k should be 1 to {}", place, limits.k));
  return json.get<std::int64_t>();
}

RecommendRequest read_recommend_request(const Json& json, const Limits& limits, const std::string& place) {
  if (!json.is_object()) bad_field(place + "a request should be an object");
  refuse_other_names(
      json,
      {"history", "user", "k", "exclude", "only", "explain", "diversify", "skip_unknown", "model", "session"},
      place);
  RecommendRequest request;
  const bool by_user = json.contains("user");
  if (by_user == json.contains("history")) bad_field(place + "give either a history or a user");
  // Lists of items that the body can hold at all are filters of any size.
  const std::int64_t any = limits.body_bytes;
  for (const auto& [name, value] : json.items()) {
    const std::string what = place + name;
    if (name == "user") request.user = id_of(value, what);
    if (name == "history") request.history = ids_of(value, what, limits.history_items);
    if (name == "k") request.k = k_of(value, limits, place);
    if (name == "exclude") request.exclude = ids_of(value, what, any);
    if (name == "only") request.only = ids_of(value, what, any);
    if (name == "explain") request.explain = flag_of(value, what);
    if (name == "diversify") request.diversify = share_of(value, what);
    if (name == "skip_unknown") request.skip_unknown = flag_of(value, what);
    if (name == "model") request.model = id_of(value, what);
    if (name == "session") request.session = id_of(value, what);
  }
  return request;
}

}  // namespace poise::serve
