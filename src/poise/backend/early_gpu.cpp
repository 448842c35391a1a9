#include "poise/backend/early_gpu.hpp"

#include <chrono>
#include <utility>

namespace poise {

EarlyGpu::EarlyGpu(int threads, Observer* observer, CudaReady ready, std::function<void(Backend&)> then)
    : pending_(std::async(std::launch::async, [=, then = std::move(then)] {
        const auto begin = std::chrono::steady_clock::now();
        Result result{.info = cuda_info(), .backend = nullptr};
        try {
          if (!result.info.devices.empty()) {
            result.backend = make_cuda_backend(threads, observer, ready);
            if (then) then(*result.backend);
          }
        } catch (const Error&) {
          result.backend = nullptr;
        }
        result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return result;
      })) {}

void EarlyGpu::wait() {
  if (pending_.valid()) result_ = pending_.get();
}

CudaInfo EarlyGpu::info() {
  if (!pending_.valid() && !result_.info.built) return cuda_info();
  wait();
  return result_.info;
}

std::unique_ptr<Backend> EarlyGpu::take() {
  wait();
  return std::move(result_.backend);
}

}  // namespace poise
