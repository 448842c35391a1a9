#include "poise/serve/service.hpp"

#include <algorithm>
#include <ctime>
#include <exception>
#include <new>
#include <random>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/json_text.hpp"
#include "poise/serve/assets.hpp"
#include "poise/serve/page.hpp"
#include "poise/serve/strict_json.hpp"

namespace poise::serve {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

/// An id that a client sent is kept if it is short and harmless in a log.
bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  });
}

std::string error_body(std::string_view code, std::string_view message) {
  return json_text({{"error", {{"code", code}, {"message", message}}}});
}

/// An error of the library is a mistake of the request, unless the model or the machine is at fault.
Refusal refusal_of(const Error& error) {
  const bool ours = error.kind() == ErrorKind::resources || error.kind() == ErrorKind::numerical;
  return ours ? Refusal{503, "model_failed", error.what()} : Refusal{400, "not_possible", error.what()};
}

}  // namespace

Service::Service(Models& models, ServiceOptions options)
    : models_(models),
      options_(std::move(options)),
      traffic_(options_.traffic, *models.now()),
      admission_(std::move(options_.access), options_.limits),
      sources_{.limits = options_.limits,
               .models = models,
               .traffic = traffic_,
               .shadow = options_.shadow,
               .catalogue = options_.catalogue.get(),
               .users = options_.users.get(),
               .picture_origins = options_.picture_origins,
               .metrics = metrics_},
      id_seed_(std::random_device()() * std::uint64_t{0x9E3779B97F4A7C15}) {
  if (!options_.shadow.empty() && find_model(*models.now(), options_.shadow) == nullptr)
    fail(ErrorKind::usage, "{} {}: there is no model of this name", "shadow"_p, options_.shadow);
  for (const std::string& origin : options_.picture_origins) {
    if (!is_picture_origin(origin))
      fail(ErrorKind::usage, "{} takes an origin such as https://img.shop.example, not '{}'",
           "picture-origin"_p, origin);
  }
}

Exchange Service::begin() {
  // Multiplying by an odd number keeps them distinct.
  const std::uint64_t number = (id_seed_ + ids_++) * 0xD1342543DE82EF95U;
  return {.id = fmt::format("{:016x}", number), .begin = Clock::now()};
}

void Service::admit(const RequestHead& head, Exchange& exchange) {
  if (const auto sent = head.header("x-request-id"); sent && is_request_id(*sent)) exchange.id = *sent;
  exchange.head = head;
  admission_.check(head, seconds_of(Clock::now().time_since_epoch()), exchange.admitted);
}

Response Service::answer(const Request& request, const Exchange& exchange) noexcept {
  try {
    return answer_or_refusal(request, exchange);
  } catch (...) {
    // There is not even the memory to say so.
    return {.status = 503, .content_type = {}};
  }
}

Response Service::answer_or_refusal(const Request& request, const Exchange& exchange) {
  try {
    Response response = dispatch(request, exchange);
    for (auto& header : admission_.cors_headers(exchange.head)) response.headers.push_back(std::move(header));
    response.headers.emplace_back("X-Request-Id", exchange.id);
    return response;
  } catch (const Refusal& refusal) {
    return refuse(refusal, exchange);
  } catch (const Error& error) {
    return refuse(refusal_of(error), exchange);
  } catch (const std::bad_alloc&) {
    return refuse({503, "out_of_memory", "there is not enough memory for this request"}, exchange);
  } catch (const std::exception& error) {
    return refuse({503, "internal_error", error.what()}, exchange);
  }
}

Response Service::dispatch(const Request& request, const Exchange& exchange) {
  if (request.head.method == "OPTIONS") return {.status = 204};
  switch (exchange.admitted.endpoint->id) {
    case EndpointId::page:
      return explorer_page(options_.picture_origins);
    case EndpointId::livez:
      return {.body = "{\"status\":\"alive\"}"};
    case EndpointId::readyz:
      return readiness();
    case EndpointId::openapi:
      return {.body = std::string(assets::openapi_json)};
    case EndpointId::metrics:
      return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
              .body = metrics_.text(*models_.now())};
    case EndpointId::models:
      return answer_models(sources_);
    case EndpointId::items:
      return answer_items(sources_, request.head.query);
    case EndpointId::history:
      return answer_history(sources_, exchange.admitted.parameter);
    case EndpointId::recommend:
      return answer_recommend(sources_, request.body);
    case EndpointId::similar:
      return answer_similar(sources_, request.body);
    case EndpointId::compare:
      return answer_compare(sources_, request.body);
    case EndpointId::reload:
      return answer_reload(sources_, request.body);
  }
  throw Refusal{404, "not_found", "there is nothing at this path"};
}

Response Service::readiness() const {
  if (draining_) throw Refusal{503, "draining", "the server is about to stop"};
  Json names = Json::array();
  for (const auto& model : *models_.now()) names.push_back(model->name());
  return {.body = json_text({{"status", "ready"}, {"models", names}})};
}

Response Service::refuse(const Refusal& refusal, const Exchange& exchange) {
  metrics_.refused(refusal.code);
  Response response{.status = refusal.status,
                    .body = error_body(refusal.code, refusal.message),
                    .headers = refusal.headers};
  for (auto& header : admission_.cors_headers(exchange.head)) response.headers.push_back(std::move(header));
  response.headers.emplace_back("X-Request-Id", exchange.id);
  return response;
}

void Service::finished(const Exchange& exchange, int status, std::size_t bytes) {
  const double seconds = seconds_of(Clock::now() - exchange.begin);
  const Endpoint* const endpoint = exchange.admitted.endpoint;
  const std::string_view name = endpoint == nullptr ? "none" : endpoint->name;
  metrics_.answered(name, status, seconds);
  if (!options_.access_log) return;
  const auto now = std::chrono::system_clock::now();
  const auto micro =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() % 1'000'000;
  const std::string time = fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                                       fmt::gmtime(std::chrono::system_clock::to_time_t(now)), micro);
  options_.access_log(json_text({{"time", time},
                                 {"id", exchange.id},
                                 {"method", exchange.head.method},
                                 {"path", exchange.head.path},
                                 {"endpoint", name},
                                 {"status", status},
                                 {"seconds", seconds},
                                 {"bytes", bytes},
                                 {"client", exchange.admitted.client}}));
}

}  // namespace poise::serve
