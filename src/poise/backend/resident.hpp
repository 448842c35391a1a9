#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>

#include "poise/backend/backend.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// A matrix that lies where a backend computes: an ordinary Matrix, or the memory of a GPU, which only the
/// backend may touch. The backend must outlive it.
template <class T>
class Resident {
 public:
  Resident() = default;
  /// Zeros.
  Resident(Backend& backend, std::int64_t rows, std::int64_t cols) : backend_(&backend) {
    if (backend.on_host()) {
      host_ = Matrix<T>(rows, cols);
      view_ = host_.view();
      return;
    }
    // Rows begin at multiples of 128 bytes, which products and copies like.
    constexpr std::int64_t line = 128 / sizeof(T);
    const std::int64_t stride = (cols + line - 1) / line * line;
    view_ = {nullptr, rows, cols, stride};
    if (rows * stride > 0) view_.data = static_cast<T*>(backend.allocate(sizeof(T) * rows * stride));
    // What lies between the rows is zero too: all of it may be read as one long row.
    backend.combine({}, MatrixView<T>{view_.data, rows, stride, stride});
  }
  /// What `matrix` holds, wherever that lies; a Matrix on the host is taken over.
  Resident(Backend& backend, Matrix<T>&& matrix) : backend_(&backend) {
    if (backend.on_host()) {
      host_ = std::move(matrix);
      view_ = host_.view();
    } else {
      *this = Resident(backend, matrix.view());
    }
  }
  Resident(Backend& backend, MatrixView<const T> matrix) : Resident(backend, matrix.rows, matrix.cols) {
    backend.copy(matrix, view_);
  }
  Resident(Resident&& other) noexcept { swap(other); }
  Resident& operator=(Resident&& other) noexcept {
    Resident(std::move(other)).swap(*this);
    return *this;
  }
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;
  ~Resident() {
    if (backend_ != nullptr && host_.rows() == 0 && view_.data != nullptr && !backend_->on_host())
      backend_->release(view_.data);
  }

  [[nodiscard]] std::int64_t rows() const { return view_.rows; }
  [[nodiscard]] std::int64_t cols() const { return view_.cols; }
  [[nodiscard]] MatrixView<T> view() { return view_; }
  [[nodiscard]] MatrixView<const T> view() const { return view_; }
  [[nodiscard]] Resident clone() const {
    return backend_ == nullptr ? Resident() : Resident(*backend_, view());
  }

  /// The contents as an ordinary matrix; on the host the matrix itself, which is gone from here. From a GPU
  /// they go to `room`, if that has their shape.
  [[nodiscard]] Matrix<T> take(Matrix<T> room = {}) {
    Matrix<T> result;
    if (backend_ == nullptr || backend_->on_host()) {
      result = std::move(host_);
    } else {
      const bool fits = room.rows() == rows() && room.cols() == cols();
      result = fits ? std::move(room) : Matrix<T>::uninitialized(rows(), cols());
      backend_->copy(view(), result.view());
    }
    *this = {};
    return result;
  }
  /// A copy of the contents as an ordinary matrix.
  [[nodiscard]] Matrix<T> home() const {
    Matrix<T> result(rows(), cols());
    if (backend_ != nullptr) backend_->copy(view(), result.view());
    return result;
  }

 private:
  void swap(Resident& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(host_, other.host_);
    std::swap(view_, other.view_);
  }

  Backend* backend_ = nullptr;
  Matrix<T> host_;
  MatrixView<T> view_;
};

/// What ordinary memory holds, where a backend reads it: that memory itself on the processor, a copy in the
/// memory of a GPU, which copies of this share. That memory and the backend must outlive it.
template <class T>
class Lent {
 public:
  Lent(Backend& backend, MatrixView<const T> matrix) : view_(matrix) {
    if (!backend.traits().own_memory) return;
    copy_ = std::make_shared<const Resident<T>>(backend, matrix);
    view_ = copy_->view();
  }
  [[nodiscard]] In<T> view() const { return view_; }

 private:
  std::shared_ptr<const Resident<T>> copy_;
  In<T> view_;
};
template <class T>
Lent(Backend&, MatrixView<const T>) -> Lent<T>;

/// To be read only, whatever the matrix allows.
template <class T>
MatrixView<const T> readable(const Resident<T>& block) {
  return block.view();
}

}  // namespace poise
