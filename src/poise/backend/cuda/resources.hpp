#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "poise/backend/cuda/check.hpp"
#include "poise/backend/cuda/cuda.hpp"

namespace poise::cuda {

class Resources;

/// Memory of the GPU, for as long as it is needed; contents unspecified.
template <class T>
class Array {
 public:
  Array() = default;
  Array(Resources& resources, std::int64_t size);
  Array(Array&& other) noexcept
      : resources_(std::exchange(other.resources_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(resources_, other.resources_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array();

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  Resources* resources_ = nullptr;
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// The owner of handles, streams, events and page-locked memory of one GPU. All work runs in the order of one
/// stream; memory comes from the driver's pool, in the same order.
class Resources {
 public:
  explicit Resources(int threads);
  ~Resources();
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;

  /// Error{resources} if too little memory is free.
  [[nodiscard]] void* allocate(std::uint64_t bytes);
  void release(void* memory) noexcept;

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] cublasHandle_t blas() const { return blas_; }
  [[nodiscard]] cusolverDnHandle_t solver();
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] int multiprocessors() const { return multiprocessors_; }
  [[nodiscard]] std::uint64_t total_bytes() const { return total_bytes_; }
  /// The most shared memory that a block may have.
  [[nodiscard]] std::int64_t shared_bytes() const { return shared_bytes_; }
  void synchronize();
  void get_ready(CudaReady ready);
  /// Work that may run side by side: after fork() on any of the side streams, of which number 0 is the stream
  /// itself; join() has the stream wait for all of them.
  static constexpr int side_streams = 3;
  void fork();
  void join();
  [[nodiscard]] cudaStream_t side_stream(int k) const { return k == 0 ? stream_ : side_[k - 1]; }

  /// Whether the memory is this GPU's.
  [[nodiscard]] static bool owns(const void* memory);
  /// Copies rows of `width` bytes between host and GPU, or within the GPU. Copies to the host are complete on
  /// return.
  void transfer(const void* from, std::int64_t from_stride, void* to, std::int64_t to_stride,
                std::int64_t width, std::int64_t rows);
  template <class T>
  [[nodiscard]] Array<T> upload(std::span<const T> values) {
    Array<T> array(*this, static_cast<std::int64_t>(values.size()));
    if (!values.empty()) transfer(values.data(), 0, array.data(), 0, values.size_bytes(), 1);
    return array;
  }
  template <class T>
  void download(const Array<T>& array, std::span<T> values) {
    if (!values.empty()) transfer(array.data(), 0, values.data(), 0, values.size_bytes(), 1);
  }

 private:
  int threads_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t side_[side_streams - 1] = {};
  cudaEvent_t forked_ = nullptr;
  cudaEvent_t joined_[side_streams - 1] = {};
  cublasHandle_t blas_ = nullptr;
  cusolverDnHandle_t solver_ = nullptr;
  int multiprocessors_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::int64_t shared_bytes_ = 0;
  bool reads_host_ = false;
  /// The page-locked memory, allocated at first use.
  [[nodiscard]] char* bounce();

  char* bounce_ = nullptr;  ///< page-locked memory through which large copies go, in two halves
  cudaEvent_t bounced_[2] = {};
};

template <class T>
Array<T>::Array(Resources& resources, std::int64_t size) : resources_(&resources), size_(size) {
  if (size > 0) data_ = static_cast<T*>(resources.allocate(sizeof(T) * static_cast<std::uint64_t>(size)));
}
template <class T>
Array<T>::~Array() {
  if (data_ != nullptr) resources_->release(data_);
}

}  // namespace poise::cuda
