#pragma once

#include "poise/backend/resident.hpp"
#include "poise/linalg/matrix.hpp"
#include "poise/solver/column_share.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {

/// The saved columns of B, where the backend computes: row i is B_:i; those of a share are at their owners,
/// row k is B_:i with i = share.own()[k]. Or B itself, if `as_rows`, for what needs products alone.
struct SavedColumns {
  In<float> rows;
  const ColumnShare* share = nullptr;
  bool as_rows = false;

  SavedColumns(In<float> all) : rows(all) {}   // NOLINT(*-explicit-*)
  SavedColumns(Out<float> all) : rows(all) {}  // NOLINT(*-explicit-*)
  SavedColumns(In<float> own, const ColumnShare* of, bool is_B = false)
      : rows(own), share(of), as_rows(is_B) {}

  /// B v, the same v at all processes.
  template <class T>
  [[nodiscard]] Matrix<T> times(const Matrix<T>& v, Backend& backend) const {
    if (share == nullptr) return poise::times(as_rows ? Op::none : Op::transpose, rows, v, backend);
    Matrix<T> own(rows.rows, v.cols());
    for (std::int64_t k = 0; k < own.rows(); ++k)
      std::ranges::copy(v.row(share->own()[k]), own.row(k).begin());
    Matrix<T> sum = poise::times(Op::transpose, rows, own, backend);
    share->add_up(std::span(sum.view().data, static_cast<std::size_t>(sum.rows() * sum.cols())));
    return sum;
  }

  /// v - B'v.
  [[nodiscard]] Matrix<double> rest(const Matrix<double>& v, Backend& backend) const {
    Matrix<double> own;
    if (share != nullptr) {
      own = Matrix<double>(rows.rows, v.cols());
      for (std::int64_t k = 0; k < own.rows(); ++k)
        std::ranges::copy(v.row(share->own()[k]), own.row(k).begin());
    }
    Resident<double> result(backend, share == nullptr ? v.view() : std::as_const(own).view());
    backend.gemm(as_rows ? Op::transpose : Op::none, Op::none, -1.0, rows, Lent(backend, v).view(), 1.0,
                 result.view());
    return share == nullptr ? result.take() : share->join_rows(result.take());
  }
};

}  // namespace poise
