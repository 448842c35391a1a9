#pragma once

#include <algorithm>
#include <cstdint>

#include "poise/backend/resident.hpp"
#include "poise/base/observer.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/matrix.hpp"

namespace poise {

/// Columns [first, first + count) of v.
inline Matrix<double> columns_of(const Matrix<double>& v, std::int64_t first, std::int64_t count) {
  Matrix<double> part(v.rows(), count);
  for (std::int64_t i = 0; i < v.rows(); ++i)
    std::copy_n(v.row(i).begin() + first, count, part.row(i).begin());
  return part;
}

/// Calls body(part, result) for a few columns of v at a time, which pass through the data together; returns
/// the results side by side.
template <class Body>
Matrix<double> in_parts(const Matrix<double>& v, Backend& backend, Observer* observer, const Body& body) {
  constexpr std::int64_t columns_together = 32;
  Matrix<double> result(v.rows(), v.cols());
  const Tiling tiling{v.cols(), columns_together};
  for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
    stop_if_asked(observer);
    const std::int64_t first = tiling.first(tile);
    const Matrix<double> part = columns_of(v, first, tiling.last(tile) - first);
    Resident<double> there(backend, part.rows(), part.cols());
    body(Lent(backend, part).view(), there.view());
    const Matrix<double> made = there.take();
    for (std::int64_t i = 0; i < made.rows(); ++i)
      std::ranges::copy(made.row(i), result.row(i).begin() + first);
  }
  return result;
}

}  // namespace poise
