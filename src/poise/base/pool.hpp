#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace poise {

/// Things that tiles use one after the other, so that there are as many as threads, not as tiles: scratch
/// memory, or what takes long to make.
template <class T>
class Pool {
 public:
  using Handle = std::unique_ptr<T>;

  explicit Pool(std::function<Handle()> make) : make_(std::move(make)) {}

  /// One that nobody uses now, or a new one.
  Handle take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        Handle one = std::move(free_.back());
        free_.pop_back();
        return one;
      }
    }
    return make_();
  }

  void give(Handle one) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(one));
  }

 private:
  std::function<Handle()> make_;
  std::mutex mutex_;
  std::vector<Handle> free_;
};

}  // namespace poise
