#pragma once

#include <functional>
#include <future>
#include <memory>

#include "poise/backend/cuda/cuda.hpp"

namespace poise {

/// Starts a GPU on a thread of its own while data are read: starting the driver, a context and the libraries
/// takes as long as reading. For commands that will use a GPU. Only the time depends on it.
class EarlyGpu {
 public:
  /// Starts none.
  EarlyGpu() = default;
  /// The same thread calls `then` with the backend.
  EarlyGpu(int threads, Observer* observer, CudaReady ready, std::function<void(Backend&)> then = {});

  /// The result of cuda_info(). Waits for the thread.
  [[nodiscard]] CudaInfo info();
  /// The backend; null if none was started or starting failed (another attempt reports why). Waits too.
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
