#pragma once

#include <functional>
#include <future>
#include <memory>

#include "poise/backend/cuda/cuda.hpp"

namespace poise {

/// A GPU that a thread of its own starts while data are read: the driver, a context and the libraries take as
/// long as the data. Whoever knows that a GPU will be used asks for one; all that it changes is the time.
class EarlyGpu {
 public:
  /// None was asked for.
  EarlyGpu() = default;
  /// `then` is run with the backend, by the same thread.
  EarlyGpu(int threads, Observer* observer, CudaReady ready, std::function<void(Backend&)> then = {});

  /// What cuda_info() says. Waits for the thread.
  [[nodiscard]] CudaInfo info();
  /// The backend; null where none was asked for or it failed, which making it again tells. Waits likewise.
  [[nodiscard]] std::unique_ptr<Backend> take();
  /// How long the thread took.
  [[nodiscard]] double seconds() const { return result_.seconds; }

 private:
  struct Result {
    CudaInfo info;
    std::unique_ptr<Backend> backend;
    double seconds = 0;
  };
  void wait();

  std::future<Result> pending_;
  Result result_;
};

}  // namespace poise
