#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace poise {

/// Objects that tiles use one after the other, so that there are as many as threads, not as tiles: scratch
/// memory, or what takes long to make. What one holds when it is taken is what its last user left.
template <class T>
class Pool {
 public:
  explicit Pool(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}

  /// RAII handle: gives the object back on destruction. One whose use ended with an exception is dropped, as
  /// its state is unknown.
  class Taken {
   public:
    Taken(Pool& pool, std::unique_ptr<T> object) : pool_(pool), object_(std::move(object)) {}
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken() {
      if (std::uncaught_exceptions() == exceptions_) pool_.give(std::move(object_));
    }
    T& operator*() const { return *object_; }
    T* operator->() const { return object_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<T> object_;
    int exceptions_ = std::uncaught_exceptions();
  };

  /// One that is not in use, or a new one.
  Taken take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<T> object = std::move(free_.back());
        free_.pop_back();
        return {*this, std::move(object)};
      }
    }
    return {*this, make_()};
  }

 private:
  void give(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(object));
  }

  std::function<std::unique_ptr<T>()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace poise
