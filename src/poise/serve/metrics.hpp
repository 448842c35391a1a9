#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "poise/serve/models.hpp"

namespace poise::serve {

/// Counts of what the server did, in the text format of Prometheus. Any thread may count.
class Metrics {
 public:
  /// Upper bounds of the histograms' buckets, seconds.
  static constexpr std::array<double, 14> bounds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                    0.025,  0.05,    0.1,    0.25,  0.5,    1.0,   5.0};

  Metrics();

  /// An answer of an endpoint (by name; "none" where no endpoint was found).
  void answered(std::string_view endpoint, int status, double seconds);
  /// A request that got an error, by its code.
  void refused(std::string_view code);
  void reloaded(bool taken);
  /// A request that this model answered.
  void scored(const std::string& model);
  /// `common` of the `listed` items that a user saw are also in the list of the shadow model.
  void compared(std::int64_t common, std::int64_t listed);

  std::atomic<std::int64_t> connections = 0;

  [[nodiscard]] std::string text(const ModelSet& models) const;

 private:
  struct Latency {
    std::array<std::atomic<std::uint64_t>, bounds.size() + 1> buckets = {};
    std::atomic<std::uint64_t> nanoseconds = 0;
  };
  struct OfEndpoint {
    std::string name;
    Latency latency;
    /// By status / 100.
    std::array<std::atomic<std::uint64_t>, 6> statuses = {};
  };

  std::vector<OfEndpoint> endpoints_;
  mutable std::mutex mutex_;  ///< of the two below
  std::map<std::string, std::uint64_t, std::less<>> refusals_;
  std::map<std::string, std::uint64_t, std::less<>> scored_;
  std::array<std::atomic<std::uint64_t>, 2> reloads_ = {};  ///< failed, taken
  std::atomic<std::uint64_t> shadow_requests_ = 0;
  std::atomic<std::uint64_t> shadow_common_ = 0;
  std::atomic<std::uint64_t> shadow_listed_ = 0;
};

}  // namespace poise::serve
