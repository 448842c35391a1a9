#include "poise/model/sliced_gram.hpp"

#include <algorithm>
#include <functional>

namespace poise {
namespace {

constexpr std::int64_t users_per_slice = 16'384;

}  // namespace

SlicedGram::SlicedGram(CsrView X, std::span<const float> row_weights, Backend& backend,
                       const Execution& execution)
    : items_(X.cols), backend_(backend) {
  const Tiling tiling{X.rows, users_per_slice};
  for (std::int64_t k = 0; k < tiling.tiles(); ++k) {
    const std::int64_t first = tiling.first(k);
    const std::int64_t count = tiling.last(k) - first;
    slices_.push_back({.X = {count, X.cols, X.offsets.subspan(first, count + 1), X.indices, {}},
                       .a = row_weights.empty() ? row_weights : row_weights.subspan(first, count),
                       .transposed = {}});
  }
  for_each_tile(tiling.tiles(), execution.threads,
                [&](std::int64_t k) { slices_[k].transposed = transpose(slices_[k].X); });
}

Matrix<double> SlicedGram::times(const Matrix<double>& B) {
  const std::int64_t width = B.cols();
  Matrix<double> product(items_, width);
  if (part_.cols() != width) {
    part_ = Matrix<double>(items_, width);
    scores_ = Matrix<double>(slices_.empty() ? 0 : slices_.front().X.rows, width);
  }
  for (const Slice& slice : slices_) {
    const MatrixView<double> scores = scores_.view().block(0, slice.X.rows);
    backend_.spmm(slice.X, B.view(), scores);
    for (std::size_t u = 0; u < slice.a.size(); ++u) {
      for (double& score : scores.row(static_cast<std::int64_t>(u))) score *= slice.a[u];
    }
    backend_.spmm(slice.transposed.view(), scores, part_.view());
    for (std::int64_t i = 0; i < items_; ++i) {
      const std::span<double> sum = product.row(i);
      std::ranges::transform(sum, part_.row(i), sum.begin(), std::plus<>());
    }
  }
  return product;
}

double sliced_gram_bytes(CsrView X, std::int64_t width) {
  const Tiling tiling{X.rows, users_per_slice};
  const auto transposed = 4 * static_cast<double>(X.entries()) +
                          8 * static_cast<double>(tiling.tiles()) * static_cast<double>(X.cols);
  const auto block_rows = static_cast<double>(std::min(X.rows, users_per_slice) + 4 * X.cols);
  return transposed + 8 * block_rows * static_cast<double>(width);
}

}  // namespace poise
