#pragma once

#include <span>
#include <string>
#include <string_view>

namespace poise::serve {

enum class Access {
  open,  ///< nobody needs a key: it says nothing about models or users
  key    ///< where there are keys
};

/// Where a request is answered: by the worker that read it, or, because it takes seconds, by a thread beside
/// the workers.
enum class Answered { at_once, in_background };

enum class EndpointId {
  page,
  livez,
  readyz,
  openapi,
  metrics,
  models,
  items,
  history,
  recommend,
  similar,
  compare,
  reload
};

/// A path that is answered. `{id}` in it stands for one segment.
struct Endpoint {
  EndpointId id;
  std::string_view name;  ///< in logs and metrics
  std::string_view method;
  std::string_view path;
  Access access = Access::key;
  Answered answered = Answered::at_once;
};

std::span<const Endpoint> endpoints();

/// The endpoint of a path, as it was sent; null if there is none. `parameter` becomes what {id} stands for.
const Endpoint* find_endpoint(std::string_view path, std::string& parameter);

}  // namespace poise::serve
