#include "poise/model/spectrum/sliced_gram.hpp"

#include <algorithm>
#include <utility>

namespace poise {
namespace {

constexpr std::int64_t users_per_slice = 16'384;

}  // namespace

SlicedGram::SlicedGram(CsrView X, std::span<const float> row_weights, Backend& backend,
                       const Execution& execution)
    : items_(X.cols), backend_(backend) {
  const Tiling tiling{X.rows,
                      backend.traits().caches_slices ? users_per_slice : std::max<std::int64_t>(1, X.rows)};
  for (std::int64_t k = 0; k < tiling.tiles(); ++k) {
    const std::int64_t first = tiling.first(k);
    const std::int64_t count = tiling.last(k) - first;
    Slice slice{
        .X = {count, X.cols, X.offsets.subspan(first, count + 1), X.indices, {}}, .a = {}, .transposed = {}};
    if (!row_weights.empty())
      slice.a.assign(row_weights.begin() + first, row_weights.begin() + first + count);
    slices_.push_back(std::move(slice));
  }
  const int threads_of_one = tiling.tiles() == 1 ? execution.threads : 1;
  for_each_tile(tiling.tiles(), execution.threads,
                [&](std::int64_t k) { slices_[k].transposed = transpose(slices_[k].X, threads_of_one); });
  for (Slice& slice : slices_) {
    slice.pins.push_back(backend.pin(slice.X));
    slice.pins.push_back(backend.pin(slice.transposed.view()));
  }
}

Resident<double> SlicedGram::times(In<double> B) {
  const std::int64_t width = B.cols;
  Resident<double> product(backend_, items_, width);
  if (part_.cols() != width) {
    part_ = Resident<double>(backend_, items_, width);
    scores_ = Resident<double>(backend_, slices_.empty() ? 0 : slices_.front().X.rows, width);
  }
  for (const Slice& slice : slices_) {
    const Out<double> scores = scores_.view().block(0, slice.X.rows);
    backend_.spmm(slice.X, B, scores);
    if (!slice.a.empty()) backend_.combine(std::vector<Term<double>>{{.x = scores, .rows = slice.a}}, scores);
    backend_.spmm(slice.transposed.view(), In<double>(scores), part_.view());
    backend_.combine(std::vector<Term<double>>{{.x = product.view()}, {.x = part_.view()}}, product.view());
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
