#include "poise/serve/metrics.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "poise/base/version.hpp"
#include "poise/serve/endpoints.hpp"

namespace poise::serve {
namespace {

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  file >> pages >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// A value of a label, with the escapes of the format.
std::string label(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '"') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

void describe(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(text), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

Metrics::Metrics() : endpoints_(endpoints().size() + 1) {
  for (std::size_t k = 0; k < endpoints().size(); ++k) endpoints_[k].name = endpoints()[k].name;
  endpoints_.back().name = "none";
}

void Metrics::answered(std::string_view endpoint, int status, double seconds) {
  auto found = std::ranges::find(endpoints_, endpoint, &OfEndpoint::name);
  if (found == endpoints_.end()) --found;
  const auto bucket = std::ranges::lower_bound(bounds, seconds) - bounds.begin();
  found->latency.buckets[bucket].fetch_add(1, std::memory_order_relaxed);
  found->latency.nanoseconds.fetch_add(static_cast<std::uint64_t>(seconds * 1e9), std::memory_order_relaxed);
  found->statuses[std::clamp(status / 100, 0, 5)].fetch_add(1, std::memory_order_relaxed);
}

void Metrics::refused(std::string_view code) {
  const std::lock_guard lock(mutex_);
  const auto found = refusals_.find(code);
  if (found == refusals_.end())
    refusals_.emplace(code, 1);
  else
    ++found->second;
}

void Metrics::reloaded(bool taken) { ++reloads_[taken ? 1 : 0]; }

void Metrics::scored(const std::string& model) {
  const std::lock_guard lock(mutex_);
  ++scored_[model];
}

void Metrics::compared(std::int64_t common, std::int64_t listed) {
  ++shadow_requests_;
  shadow_common_ += static_cast<std::uint64_t>(common);
  shadow_listed_ += static_cast<std::uint64_t>(listed);
}

std::string Metrics::text(const ModelSet& models) const {
  std::string text;
  const auto to = std::back_inserter(text);
  describe(text, "poise_requests_total", "counter", "Answers, by endpoint and class of status.");
  for (const OfEndpoint& each : endpoints_) {
    for (std::size_t c = 0; c < each.statuses.size(); ++c) {
      if (each.statuses[c] > 0)
        fmt::format_to(to, "poise_requests_total{{endpoint=\"{}\",status=\"{}xx\"}} {}\n", each.name, c,
                       each.statuses[c].load());
    }
  }
  describe(text, "poise_request_seconds", "histogram",
           "From the first byte of a request to its answer, by endpoint.");
  for (const OfEndpoint& each : endpoints_) {
    std::uint64_t count = 0;
    for (std::size_t b = 0; b <= bounds.size(); ++b) {
      count += each.latency.buckets[b];
      fmt::format_to(to, "poise_request_seconds_bucket{{endpoint=\"{}\",le=\"{}\"}} {}\n", each.name,
                     b < bounds.size() ? fmt::format("{}", bounds[b]) : "+Inf", count);
    }
    fmt::format_to(to,
                   "poise_request_seconds_sum{{endpoint=\"{0}\"}} {1}\n"
                   "poise_request_seconds_count{{endpoint=\"{0}\"}} {2}\n",
                   each.name, static_cast<double>(each.latency.nanoseconds.load()) * 1e-9, count);
  }
  {
    const std::lock_guard lock(mutex_);
    describe(text, "poise_refusals_total", "counter", "Requests that got an error, by its code.");
    for (const auto& [code, count] : refusals_)
      fmt::format_to(to, "poise_refusals_total{{reason=\"{}\"}} {}\n", label(code), count);
    describe(text, "poise_model_requests_total", "counter", "Histories that a model ranked items for.");
    for (const auto& [model, count] : scored_)
      fmt::format_to(to, "poise_model_requests_total{{model=\"{}\"}} {}\n", label(model), count);
  }
  describe(text, "poise_reloads_total", "counter", "Models that were read again, by result.");
  fmt::format_to(to,
                 "poise_reloads_total{{result=\"taken\"}} {}\npoise_reloads_total{{result=\"failed\"}} {}\n",
                 reloads_[1].load(), reloads_[0].load());
  describe(text, "poise_shadow_requests_total", "counter", "Requests that the shadow model answered too.");
  fmt::format_to(to, "poise_shadow_requests_total {}\n", shadow_requests_.load());
  describe(text, "poise_shadow_items_total", "counter",
           "Items of those answers; `agree`: also in the list of the shadow model.");
  fmt::format_to(to, "poise_shadow_items_total{{lists=\"agree\"}} {}\n", shadow_common_.load());
  fmt::format_to(to, "poise_shadow_items_total{{lists=\"all\"}} {}\n", shadow_listed_.load());
  describe(text, "poise_model_info", "gauge", "The models that are served.");
  for (const auto& model : models)
    fmt::format_to(to, "poise_model_info{{model=\"{}\",family=\"{}\",checksum=\"{}\"}} 1\n",
                   label(model->name()), label(model->info().model), model->checksum());
  describe(text, "poise_model_items", "gauge", "The items of a model.");
  for (const auto& model : models)
    fmt::format_to(to, "poise_model_items{{model=\"{}\"}} {}\n", label(model->name()), model->items().size());
  describe(text, "poise_connections", "gauge", "Open connections.");
  fmt::format_to(to, "poise_connections {}\n", connections.load());
  describe(text, "process_resident_memory_bytes", "gauge", "Memory that the process holds.");
  fmt::format_to(to, "process_resident_memory_bytes {}\n", resident_bytes());
  describe(text, "poise_build_info", "gauge", "The version of Poise.");
  fmt::format_to(to, "poise_build_info{{version=\"{}\"}} 1\n", version());
  return text;
}

}  // namespace poise::serve
