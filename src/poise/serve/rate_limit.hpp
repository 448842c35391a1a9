#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

namespace poise::serve {

/// A bucket of tokens for each key: a request takes one, and `rate` of them come back each second, up to a
/// second's worth (at least one).
class RateLimit {
 public:
  /// With rate 0 every request is let through.
  RateLimit(std::size_t keys, double rate) : rate_(rate), buckets_(keys, {std::max(rate, 1.0), 0.0}) {}

  /// Whether a request of this key may pass at this time, in seconds of a clock that never goes back.
  [[nodiscard]] bool take(std::size_t key, double now) {
    if (rate_ <= 0) return true;
    const std::lock_guard lock(mutex_);
    Bucket& bucket = buckets_[key];
    bucket.tokens = std::min(std::max(rate_, 1.0), bucket.tokens + (now - bucket.last) * rate_);
    bucket.last = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

 private:
  struct Bucket {
    double tokens;
    double last;
  };
  double rate_;
  std::mutex mutex_;
  std::vector<Bucket> buckets_;
};

}  // namespace poise::serve
