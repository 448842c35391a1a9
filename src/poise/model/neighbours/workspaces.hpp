#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace poise {

/// Scratch memory of large size that tiles take in turn, so that there is one of it for each thread and not
/// for each tile. What it holds when it is taken is what the last tile left.
template <class T>
class Workspaces {
 public:
  explicit Workspaces(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}

  /// RAII: gives the workspace back on destruction.
  class Taken {
   public:
    Taken(Workspaces& from, std::unique_ptr<T> space) : from_(from), space_(std::move(space)) {}
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken() {
      const std::lock_guard lock(from_.mutex_);
      from_.idle_.push_back(std::move(space_));
    }
    T& operator*() const { return *space_; }
    T* operator->() const { return space_.get(); }

   private:
    Workspaces& from_;
    std::unique_ptr<T> space_;
  };

  [[nodiscard]] Taken take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<T> space = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(space)};
      }
    }
    return {*this, make_()};
  }

 private:
  std::function<std::unique_ptr<T>()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace poise
