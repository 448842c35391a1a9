#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/linalg/large_pages.hpp"

namespace poise {

/// A view of a dense row-major matrix; rows begin `stride` elements apart.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;

  [[nodiscard]] std::span<T> row(std::int64_t r) const {
    assert(r >= 0 && r < rows);
    return {data + r * stride, static_cast<std::size_t>(cols)};
  }
  [[nodiscard]] T& operator()(std::int64_t r, std::int64_t c) const { return data[r * stride + c]; }
  [[nodiscard]] MatrixView block(std::int64_t first, std::int64_t count) const {
    assert(first >= 0 && first + count <= rows);
    return {data + first * stride, count, cols, stride};
  }
  operator MatrixView<const T>() const { return {data, rows, cols, stride}; }  // NOLINT(*-explicit-*)
};

/// A dense row-major matrix.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::int64_t rows, std::int64_t cols, T fill = T{})
      : rows_(rows), cols_(cols), data_(rows * cols, fill) {}
  /// A matrix with uninitialized entries.
  static Matrix uninitialized(std::int64_t rows, std::int64_t cols) {
    Matrix matrix;
    matrix.rows_ = rows;
    matrix.cols_ = cols;
    matrix.data_ = decltype(data_)(rows * cols);
    return matrix;
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t cols() const { return cols_; }
  [[nodiscard]] MatrixView<T> view() { return {data_.data(), rows_, cols_, cols_}; }
  [[nodiscard]] MatrixView<const T> view() const { return {data_.data(), rows_, cols_, cols_}; }
  [[nodiscard]] T& operator()(std::int64_t r, std::int64_t c) { return view()(r, c); }
  [[nodiscard]] const T& operator()(std::int64_t r, std::int64_t c) const { return view()(r, c); }
  [[nodiscard]] std::span<T> row(std::int64_t r) { return view().row(r); }
  [[nodiscard]] std::span<const T> row(std::int64_t r) const { return view().row(r); }

 private:
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  std::vector<T, LargePages<T>> data_;
};

}  // namespace poise
