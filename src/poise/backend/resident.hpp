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
  Resident(Backend& backend, std::int64_t rows, std::int64_t cols) : Resident(backend, rows, cols, 0) {}
  /// A copy of a matrix in ordinary memory.
  Resident(Backend& backend, MatrixView<const T> matrix)
      : Resident(backend, matrix.rows, matrix.cols, matrix.cols) {
    backend.upload(matrix, view_);
  }
  /// The same; takes the matrix over, without a copy, if the backend's memory is ordinary memory.
  Resident(Backend& backend, Matrix<T>&& matrix) : backend_(&backend) {
    if (backend.traits().own_memory) {
      *this = Resident(backend, matrix.view());
    } else {
      adopt(std::move(matrix));
    }
  }
  /// A copy of a matrix in the backend's memory.
  Resident(Backend& backend, In<T> matrix) : Resident(backend, matrix.rows, matrix.cols, matrix.cols) {
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
    if (view_.data != host_.view().data) backend_->release(view_.data);
  }

  [[nodiscard]] std::int64_t rows() const { return view_.rows; }
  [[nodiscard]] std::int64_t cols() const { return view_.cols; }
  [[nodiscard]] Out<T> view() { return view_; }
  [[nodiscard]] In<T> view() const { return view_; }
  [[nodiscard]] Resident clone() const {
    return backend_ == nullptr ? Resident() : Resident(*backend_, view());
  }

  /// The contents as an ordinary matrix, moved out without a copy if the backend's memory is ordinary memory.
  /// A GPU's contents are copied to `room` if it has their shape. This object is empty afterwards.
  [[nodiscard]] Matrix<T> take(Matrix<T> room = {}) {
    Matrix<T> result = std::move(host_);
    if (backend_ != nullptr && backend_->traits().own_memory) {
      const bool fits = room.rows() == rows() && room.cols() == cols();
      result = fits ? std::move(room) : Matrix<T>::uninitialized(rows(), cols());
      backend_->download(view(), result.view());
    } else {
      view_ = {};
    }
    *this = {};
    return result;
  }
  /// A copy of the contents as an ordinary matrix.
  [[nodiscard]] Matrix<T> home() const {
    Matrix<T> result(rows(), cols());
    if (backend_ != nullptr) backend_->download(view(), result.view());
    return result;
  }

 private:
  /// Zeros from column `first` on, which is 0 or `cols`; what lies before it is unspecified.
  Resident(Backend& backend, std::int64_t rows, std::int64_t cols, std::int64_t first) : backend_(&backend) {
    if (!backend.traits().own_memory) {
      adopt(first == 0 ? Matrix<T>(rows, cols) : Matrix<T>::uninitialized(rows, cols));
      return;
    }
    // Rows begin at multiples of 128 bytes, as products and copies are fastest there.
    constexpr std::int64_t line = 128 / sizeof(T);
    const std::int64_t stride = (cols + line - 1) / line * line;
    view_ = {nullptr, rows, cols, stride};
    if (rows * stride == 0) return;
    view_.data = static_cast<T*>(backend.allocate(sizeof(T) * rows * stride));
    // The padding between rows is zero too: the whole may be read as one long row.
    backend.combine({}, Out<T>{view_.data + first, rows, stride - first, stride});
  }
  void adopt(Matrix<T> matrix) {
    host_ = std::move(matrix);
    view_ = {host_.view().data, host_.rows(), host_.cols(), host_.cols()};
  }
  void swap(Resident& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(host_, other.host_);
    std::swap(view_, other.view_);
  }

  Backend* backend_ = nullptr;
  Matrix<T> host_;
  Out<T> view_;
};

/// A read-only view of a matrix that may be written.
template <class T>
In<T> readable(const Resident<T>& block) {
  return block.view();
}

/// A matrix in ordinary memory for a backend to read: that memory itself on the processor; on a GPU a copy,
/// which copies of this object share. The matrix and the backend must outlive it.
template <class T>
class Lent {
 public:
  Lent(Backend& backend, MatrixView<const T> matrix)
      : view_{matrix.data, matrix.rows, matrix.cols, matrix.stride} {
    if (!backend.traits().own_memory) return;
    copy_ = std::make_shared<const Resident<T>>(backend, matrix);
    view_ = copy_->view();
  }
  Lent(Backend& backend, const Matrix<T>& matrix) : Lent(backend, matrix.view()) {}
  [[nodiscard]] In<T> view() const { return view_; }

 private:
  std::shared_ptr<const Resident<T>> copy_;
  In<T> view_;
};
template <class T>
Lent(Backend&, MatrixView<const T>) -> Lent<T>;

/// A matrix in ordinary memory for a backend to write: that memory itself on the processor; on a GPU a matrix
/// of zeros, which give_back() copies to it. The previous contents are not copied to the GPU.
template <class T>
class Borrowed {
 public:
  Borrowed(Backend& backend, MatrixView<T> matrix)
      : backend_(backend), home_(matrix), view_{matrix.data, matrix.rows, matrix.cols, matrix.stride} {
    if (!backend.traits().own_memory) return;
    there_ = Resident<T>(backend, matrix.rows, matrix.cols);
    view_ = there_.view();
  }
  [[nodiscard]] Out<T> view() const { return view_; }
  void give_back() {
    if (view_.data != home_.data) backend_.download(view_, home_);
  }

 private:
  Backend& backend_;
  MatrixView<T> home_;
  Resident<T> there_;
  Out<T> view_;
};

/// A backend's matrix as ordinary memory; a programmer's error if the backend has memory of its own.
template <class T>
MatrixView<T> ordinary([[maybe_unused]] const Backend& backend, DeviceView<T> matrix) {
  assert(!backend.traits().own_memory);
  return matrix.host();
}

}  // namespace poise
