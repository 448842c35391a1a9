#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// A dense row-major matrix in the memory of a backend, which alone reads and writes it; `stride` elements
/// from one row to the next. Resident, Lent and Borrowed make them (backend/resident.hpp); a matrix in
/// ordinary memory has another type, MatrixView.
template <class T>
struct DeviceView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;

  /// Rows [first, first + count).
  [[nodiscard]] DeviceView block(std::int64_t first, std::int64_t count) const {
    return {data + first * stride, count, cols, stride};
  }
  /// Columns [first, first + count).
  [[nodiscard]] DeviceView columns(std::int64_t first, std::int64_t count) const {
    return {data + first, rows, count, stride};
  }
  operator DeviceView<const T>() const { return {data, rows, cols, stride}; }  // NOLINT(*-explicit-*)
  /// The same matrix as ordinary memory; only for backends whose memory is ordinary memory.
  [[nodiscard]] MatrixView<T> host() const { return {data, rows, cols, stride}; }
};

/// The operands of primitives: In is read, Out is written.
template <class T>
using In = DeviceView<const T>;
template <class T>
using Out = DeviceView<T>;
using Numbers = std::span<const double>;
using Indices = std::span<const std::int32_t>;

/// RAII handle: releases the device copy on destruction.
class Pin {
 public:
  Pin() = default;
  explicit Pin(std::function<void()> release) : release_(std::move(release)) {}
  Pin(Pin&& other) noexcept : release_(std::exchange(other.release_, nullptr)) {}
  Pin& operator=(Pin&& other) noexcept {
    std::swap(release_, other.release_);
    return *this;
  }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  ~Pin() {
    if (release_) release_();
  }

 private:
  std::function<void()> release_;
};

/// The memory of a backend, and copies to it and from it.
class Device {
 public:
  virtual ~Device() = default;

  /// The total size of its memory.
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
  /// Allocates memory with unspecified contents; Error{resources} if too little is free.
  [[nodiscard]] virtual void* allocate(std::uint64_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Copies within its memory, also between types (rounded to nearest).
  virtual void copy(In<float> from, Out<float> to) = 0;
  virtual void copy(In<double> from, Out<double> to) = 0;
  virtual void copy(In<float> from, Out<double> to) = 0;
  virtual void copy(In<double> from, Out<float> to) = 0;
  /// Copies from ordinary memory to its own, and back.
  virtual void upload(MatrixView<const float> from, Out<float> to) = 0;
  virtual void upload(MatrixView<const double> from, Out<double> to) = 0;
  virtual void download(In<float> from, MatrixView<float> to) = 0;
  virtual void download(In<double> from, MatrixView<double> to) = 0;
  /// While the pin exists the data do not change, so that a GPU keeps its copy of them.
  [[nodiscard]] virtual Pin pin(CsrView x) = 0;
  [[nodiscard]] virtual Pin pin(std::span<const float> x) = 0;
};

}  // namespace poise
