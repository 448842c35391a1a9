#include "poise/serve/admission.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/lower_case.hpp"

namespace poise::serve {
namespace {

/// A host without its port: "localhost" of "localhost:8080", "[::1]" of "[::1]:8080". Empty for a port that
/// is no number.
std::string_view without_port(std::string_view host) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos) return host;
  const std::string_view port = host.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 &&
                      std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? host.substr(0, colon) : std::string_view();
}

/// What a browser can send as Host, without the port.
bool is_host(std::string_view text) {
  if (text.starts_with('[')) return text.size() > 2 && text.find(']') == text.size() - 1;
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_") == std::string_view::npos;
}

/// What a browser can send as Origin: scheme://host, perhaps with a port.
bool is_origin(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == 0 || scheme == std::string_view::npos) return false;
  const std::string_view host = text.substr(scheme + 3);
  return !host.empty() &&
         host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_:[]") == std::string_view::npos;
}

}  // namespace

std::string host_in_url(std::string_view host) {
  return host.find(':') == std::string_view::npos || host.starts_with('[') ? std::string(host)
                                                                           : fmt::format("[{}]", host);
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
}

Admission::Admission(AccessRules rules, const Limits& limits)
    : rules_(std::move(rules)),
      rate_(std::max<std::size_t>(1, rules_.keys.size()), limits.requests_per_second) {
  for (std::string& host : rules_.hosts) {
    host = lower_case(host);
    if (!is_host(host))
      fail(ErrorKind::usage, "{} takes a name without a port, such as shop.example, not '{}'", "allow-host"_p,
           host);
  }
  for (const std::string& origin : rules_.origins) {
    if (!is_origin(origin))
      fail(ErrorKind::usage,
           "{} takes an origin as browsers send it, in lower case and without a path, such as "
           "https://shop.example, not '{}'",
           "cors-origin"_p, origin);
  }
}

void Admission::check(const RequestHead& head, double now, Admitted& admitted) {
  check_host(*head.header("host"));
  check_origin(head);
  admitted.endpoint = find_endpoint(head.path, admitted.parameter);
  if (admitted.endpoint == nullptr)
    throw Refusal{404, "not_found", "there is nothing at this path; /openapi.json says what there is"};
  const Endpoint& endpoint = *admitted.endpoint;
  const bool preflight =
      head.method == "OPTIONS" && head.header("origin") && allows_origin(*head.header("origin"));
  const bool fits = head.method == endpoint.method || (head.method == "HEAD" && endpoint.method == "GET");
  if (!fits && !preflight) {
    const std::string allowed(endpoint.method == "GET" ? "GET, HEAD" : endpoint.method);
    throw Refusal{
        405, "method_not_allowed", fmt::format("{} takes {}", endpoint.path, allowed), {{"Allow", allowed}}};
  }
  if (preflight) return;
  const std::size_t key = endpoint.access == Access::key ? check_key(head, admitted) : 0;
  if (endpoint.access == Access::key && !rate_.take(key, now))
    throw Refusal{
        429, "too_many_requests", "more requests in a second than this key allows", {{"Retry-After", "1"}}};
  if (endpoint.method != "POST") return;
  const std::string type = lower_case(head.header("content-type").value_or(""));
  if (type != "application/json" && !type.starts_with("application/json;"))
    throw Refusal{415, "content_type", "send JSON with Content-Type: application/json"};
  if (const auto encoding = head.header("content-encoding"); encoding && lower_case(*encoding) != "identity")
    throw Refusal{415, "content_encoding", "compressed bodies are not accepted"};
}

void Admission::check_host(std::string_view host) const {
  const std::string name = lower_case(without_port(host));
  if (name == "localhost" || name == "127.0.0.1" || name == "[::1]") return;
  if (std::ranges::find(rules_.hosts, name) != rules_.hosts.end()) return;
  throw Refusal{421, "host", "this server does not answer to this Host; --allow-host names more of them"};
}

bool Admission::allows_origin(std::string_view origin) const {
  return std::ranges::find(rules_.origins, origin) != rules_.origins.end();
}

void Admission::check_origin(const RequestHead& head) const {
  const auto origin = head.header("origin");
  if (!origin || allows_origin(*origin)) return;
  const std::string host = lower_case(*head.header("host"));
  const std::string sent = lower_case(*origin);
  // A proxy that ends TLS passes the Host on: the server's own page comes by either scheme.
  if (sent == "http://" + host || sent == "https://" + host) return;
  throw Refusal{403, "origin",
                "pages of this origin may not use this server; --cors-origin names those that may"};
}

std::size_t Admission::check_key(const RequestHead& head, Admitted& admitted) const {
  if (!rules_.keys.needed()) return 0;
  std::string_view sent = head.header("x-api-key").value_or("");
  if (const auto authorization = head.header("authorization")) {
    constexpr std::string_view scheme = "bearer ";
    if (lower_case(authorization->substr(0, scheme.size())) == scheme)
      sent = authorization->substr(scheme.size());
  }
  const auto key = rules_.keys.find(sent);
  if (!key)
    throw Refusal{401,
                  "unauthorized",
                  sent.empty() ? "send a key: Authorization: Bearer KEY" : "this key is not known here",
                  {{"WWW-Authenticate", "Bearer"}}};
  admitted.client = rules_.keys.name(*key);
  return *key;
}

std::vector<std::pair<std::string, std::string>> Admission::cors_headers(const RequestHead& head) const {
  const auto origin = head.header("origin");
  if (!origin || !allows_origin(*origin)) return {};
  std::vector<std::pair<std::string, std::string>> headers = {
      {"Access-Control-Allow-Origin", std::string(*origin)}, {"Vary", "Origin"}};
  if (head.method == "OPTIONS") {
    headers.emplace_back("Access-Control-Allow-Methods", "GET, POST");
    headers.emplace_back("Access-Control-Allow-Headers",
                         "Authorization, Content-Type, X-API-Key, X-Request-Id");
    headers.emplace_back("Access-Control-Max-Age", "600");
  }
  return headers;
}

}  // namespace poise::serve
