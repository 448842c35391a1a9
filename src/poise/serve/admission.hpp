#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "poise/serve/api_keys.hpp"
#include "poise/serve/endpoints.hpp"
#include "poise/serve/http.hpp"
#include "poise/serve/limits.hpp"
#include "poise/serve/rate_limit.hpp"

namespace poise::serve {

/// Who may ask.
struct AccessRules {
  ApiKeys keys = {};
  /// Names in Host that this server answers to, beside localhost, 127.0.0.1 and [::1]: a page of another name
  /// that resolves to this machine (DNS rebinding) is refused.
  std::vector<std::string> hosts = {};
  /// Origins of other pages that may read answers, e.g. https://shop.example; none by default.
  std::vector<std::string> origins = {};
};

/// A request that may be answered.
struct Admitted {
  const Endpoint* endpoint = nullptr;
  std::string parameter;  ///< of the path
  std::string client;     ///< the name of its key
};

/// Decides by the head of a request alone, before its body is read.
class Admission {
 public:
  /// Error{usage} for a host with a port or an origin with a path, which no request could ever match.
  Admission(AccessRules rules, const Limits& limits);

  /// Writes what is known into `admitted` as far as it goes, for log and metrics. Refusals, in this order:
  /// 421 for a foreign Host, 403 for a foreign Origin, 404, 405, 401 for a missing or wrong key, 429, 415.
  void check(const RequestHead& head, double now, Admitted& admitted);

  /// What a browser has to be told so that a page of an allowed origin may read the answer.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> cors_headers(const RequestHead& head) const;

 private:
  void check_host(std::string_view host) const;
  void check_origin(const RequestHead& head) const;
  std::size_t check_key(const RequestHead& head, Admitted& admitted) const;
  [[nodiscard]] bool allows_origin(std::string_view origin) const;

  AccessRules rules_;
  RateLimit rate_;
};

/// A host as it stands in URLs and in Host: an address of IPv6 in brackets.
std::string host_in_url(std::string_view host);

/// Whether this host is a loopback address.
bool is_loopback(std::string_view host);

}  // namespace poise::serve
