#pragma once

#include <cstdint>
#include <string_view>

#include "poise/base/error.hpp"

namespace poise {

/// Receives the progress of long work and may ask it to stop. The library never prints; a caller that wants
/// progress passes an observer. Several threads may call its members at the same time.
class Observer {
 public:
  virtual ~Observer() = default;
  /// A task of `total` units begins (0: unknown).
  virtual void start(std::string_view /*task*/, std::uint64_t /*total*/, std::string_view /*unit*/) {}
  virtual void advance(std::uint64_t /*amount*/) {}
  virtual void finish() {}
  [[nodiscard]] virtual bool stop_requested() const { return false; }
};

/// Throws Error{interrupted} if there is an observer and it asks to stop.
inline void stop_if_asked(const Observer* observer) {
  if (observer != nullptr && observer->stop_requested()) throw Error(ErrorKind::interrupted, "interrupted");
}

/// RAII handle of one task of an observer: the task is finished on destruction. Without an observer it does
/// nothing.
class Progress {
 public:
  Progress(Observer* observer, std::string_view task, std::uint64_t total, std::string_view unit)
      : observer_(observer) {
    if (observer_ != nullptr) observer_->start(task, total, unit);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (observer_ != nullptr) observer_->finish();
  }

  /// Reports work done; throws Error{interrupted} if the observer asks to stop.
  void advance(std::uint64_t amount) {
    if (observer_ == nullptr) return;
    observer_->advance(amount);
    stop_if_asked(observer_);
  }

 private:
  Observer* observer_;
};

}  // namespace poise
