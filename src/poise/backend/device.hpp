#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "poise/linalg/csr.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// What a primitive reads and writes.
template <class T>
using In = MatrixView<const T>;
template <class T>
using Out = MatrixView<T>;
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

/// Where a backend's memory lies, and how data come there and back.
class Device {
 public:
  virtual ~Device() = default;

  /// Whether its own memory is ordinary memory.
  [[nodiscard]] virtual bool on_host() const = 0;
  /// How large its own memory is in all.
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
  /// Bytes of its own memory, contents unspecified; Error{resources} when there are not so many. Nothing to
  /// allocate on the host, where a Matrix serves.
  [[nodiscard]] virtual void* allocate(std::uint64_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Copies from anywhere to anywhere; the types may differ (rounded to nearest).
  virtual void copy(In<float> from, Out<float> to) = 0;
  virtual void copy(In<double> from, Out<double> to) = 0;
  virtual void copy(In<float> from, Out<double> to) = 0;
  virtual void copy(In<double> from, Out<float> to) = 0;
  /// While the pin lives these do not change, so that a GPU holds on to its copy.
  [[nodiscard]] virtual Pin pin(CsrView x) = 0;
  [[nodiscard]] virtual Pin pin(std::span<const float> x) = 0;
};

}  // namespace poise
