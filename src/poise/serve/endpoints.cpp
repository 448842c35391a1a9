#include "poise/serve/endpoints.hpp"

#include <array>

#include "poise/serve/http.hpp"

namespace poise::serve {
namespace {

constexpr std::array all_endpoints = {
    Endpoint{EndpointId::page, "page", "GET", "/", Access::open},
    Endpoint{EndpointId::livez, "livez", "GET", "/v1/livez", Access::open},
    Endpoint{EndpointId::readyz, "readyz", "GET", "/v1/readyz", Access::open},
    Endpoint{EndpointId::openapi, "openapi", "GET", "/openapi.json", Access::open},
    Endpoint{EndpointId::metrics, "metrics", "GET", "/metrics"},
    Endpoint{EndpointId::models, "models", "GET", "/v1/models"},
    Endpoint{EndpointId::items, "items", "GET", "/v1/items"},
    Endpoint{EndpointId::history, "history", "GET", "/v1/users/{id}/history"},
    Endpoint{EndpointId::recommend, "recommend", "POST", "/v1/recommend"},
    Endpoint{EndpointId::similar, "similar", "POST", "/v1/similar"},
    Endpoint{EndpointId::compare, "compare", "POST", "/v1/compare"},
    Endpoint{EndpointId::reload, "reload", "POST", "/v1/reload", Access::key, Answered::in_background},
};

}  // namespace

std::span<const Endpoint> endpoints() { return all_endpoints; }

const Endpoint* find_endpoint(std::string_view path, std::string& parameter) {
  for (const Endpoint& endpoint : all_endpoints) {
    const std::size_t hole = endpoint.path.find("{id}");
    if (hole == std::string_view::npos) {
      if (path == endpoint.path) return &endpoint;
      continue;
    }
    const std::string_view before = endpoint.path.substr(0, hole);
    const std::string_view after = endpoint.path.substr(hole + 4);
    if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after))
      continue;
    const std::string_view segment = path.substr(before.size(), path.size() - before.size() - after.size());
    if (segment.find('/') != std::string_view::npos) continue;
    parameter = percent_decoded(segment, Encoded::path);
    return &endpoint;
  }
  return nullptr;
}

}  // namespace poise::serve
