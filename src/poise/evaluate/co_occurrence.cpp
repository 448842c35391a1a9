#include "poise/evaluate/co_occurrence.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <utility>

#include "poise/base/parallel.hpp"
#include "poise/linalg/simd.hpp"

namespace poise {
namespace {

/// So many items with bits have the counts of their pairs kept.
constexpr std::int64_t most_kept = 4096;

POISE_INLINE std::int64_t common_bits(const std::uint64_t* a, const std::uint64_t* b, std::int64_t words) {
  std::int64_t count = 0;
  for (std::int64_t w = 0; w < words; ++w) count += std::popcount(a[w] & b[w]);
  return count;
}

std::int64_t common_sorted(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  std::int64_t count = 0;
  std::size_t x = 0;
  std::size_t y = 0;
  while (x < a.size() && y < b.size()) {
    const std::int32_t left = a[x];
    const std::int32_t right = b[y];
    count += static_cast<std::int64_t>(left == right);
    x += static_cast<std::size_t>(left <= right);
    y += static_cast<std::size_t>(right <= left);
  }
  return count;
}

}  // namespace

CoOccurrence::CoOccurrence(CsrView X, int threads)
    : users_(transpose(support_of(X), threads)), words_((X.rows + 63) / 64), place_(X.cols, -1) {
  std::int64_t many = 0;
  for (std::int64_t i = 0; i < X.cols; ++i) {
    if (users_.view().row_size(i) > words_) place_[i] = many++;
  }
  bits_.resize(many * words_);
  const std::int64_t kept = std::min(many, most_kept);
  counted_.assign(kept * (kept + 1) / 2, -1);
  const Tiling items{X.cols, 256};
  for_each_tile(items.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t i = items.first(tile); i < items.last(tile); ++i) {
      if (place_[i] < 0) continue;
      std::uint64_t* const own = bits_.data() + place_[i] * words_;
      for (const std::int32_t user : users_.view().row(i)) own[user / 64] |= std::uint64_t{1} << (user % 64);
    }
  });
}

/// Whoever counts a pair first writes what any other would.
std::int64_t CoOccurrence::common_of_many(std::int64_t a, std::int64_t b) const {
  static const auto count_common_bits = simd::version<common_bits>();
  const auto count = [&] {
    return count_common_bits(bits_.data() + a * words_, bits_.data() + b * words_, words_);
  };
  if (std::max(a, b) >= most_kept) return count();
  const std::atomic_ref known(counted_[std::max(a, b) * (std::max(a, b) + 1) / 2 + std::min(a, b)]);
  std::int32_t common = known.load(std::memory_order_relaxed);
  if (common >= 0) return common;
  common = static_cast<std::int32_t>(count());
  known.store(common, std::memory_order_relaxed);
  return common;
}

std::int64_t CoOccurrence::common(std::int32_t i, std::int32_t j) const {
  const CsrView users = users_.view();
  if (users.row_size(i) > users.row_size(j)) std::swap(i, j);
  if (place_[i] >= 0) return common_of_many(place_[i], place_[j]);
  const std::uint64_t* const of_j = bits(j);
  if (of_j == nullptr) return common_sorted(users.row(i), users.row(j));
  std::int64_t count = 0;
  for (const std::int32_t user : users.row(i))
    count += static_cast<std::int64_t>((of_j[user / 64] >> (user % 64)) & 1);
  return count;
}

double CoOccurrence::cosine(std::int32_t i, std::int32_t j) const {
  const CsrView users = users_.view();
  const auto sizes = static_cast<double>(users.row_size(i)) * static_cast<double>(users.row_size(j));
  return sizes > 0 ? static_cast<double>(common(i, j)) / std::sqrt(sizes) : 0;
}

}  // namespace poise
