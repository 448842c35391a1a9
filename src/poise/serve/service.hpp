#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "poise/serve/admission.hpp"
#include "poise/serve/answers.hpp"

namespace poise::serve {

struct ServiceOptions {
  Limits limits = {};
  AccessRules access = {};
  std::vector<TrafficShare> traffic = {};
  std::string shadow = {};  ///< a model that scores along
  std::unique_ptr<const ItemCatalogue> catalogue = nullptr;
  std::unique_ptr<const KnownUsers> users = nullptr;
  /// Hosts whose pictures the page may show, as https://img.shop.example: see is_picture_origin.
  std::vector<std::string> picture_origins = {};
  /// Receives a line of JSON for each answer; several threads call it at once. None: no log.
  std::function<void(std::string_view line)> access_log = {};
};

/// One request from its first byte to its answer.
struct Exchange {
  std::string id;
  std::chrono::steady_clock::time_point begin;
  RequestHead head = {};  ///< as far as it was read
  Admitted admitted = {};
};

/// Answers requests, without a socket. Any thread may call it.
class Service {
 public:
  /// Error{usage} for a traffic share or a shadow of a model that is not served, and for names of hosts and
  /// origins that are none. `models` must outlive it.
  Service(Models& models, ServiceOptions options);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  [[nodiscard]] const Limits& limits() const { return options_.limits; }
  [[nodiscard]] Metrics& metrics() { return metrics_; }
  [[nodiscard]] Models& models() { return models_; }

  /// A request begins.
  Exchange begin();
  /// Its head is there; throws a Refusal where its body need not be read.
  void admit(const RequestHead& head, Exchange& exchange);
  /// Its answer. Never throws.
  Response answer(const Request& request, const Exchange& exchange) noexcept;
  /// The answer to a request that was refused.
  Response refuse(const Refusal& refusal, const Exchange& exchange);
  /// The answer is on its way: counts and logs it.
  void finished(const Exchange& exchange, int status, std::size_t bytes);

  /// From now on /v1/readyz says that no further requests should come.
  void drain() { draining_ = true; }

 private:
  Response answer_or_refusal(const Request& request, const Exchange& exchange);
  Response dispatch(const Request& request, const Exchange& exchange);
  [[nodiscard]] Response readiness() const;

  Models& models_;
  ServiceOptions options_;
  Traffic traffic_;
  Metrics metrics_;
  Admission admission_;
  Sources sources_;
  std::atomic<bool> draining_ = false;
  std::uint64_t id_seed_;
  std::atomic<std::uint64_t> ids_ = 0;
};

}  // namespace poise::serve
