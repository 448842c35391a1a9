#include <algorithm>
#include <cassert>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/base/parallel.hpp"

namespace poise {
namespace {

/// sum of p over a list of positions; four sums hide the latency of the additions.
template <class T>
double gather(const T* p, Indices at) {
  double sums[4] = {};
  const std::int32_t* i = at.data();
  const std::int32_t* const end = i + at.size();
  for (; end - i >= 4; i += 4) {
    for (int lane = 0; lane < 4; ++lane) sums[lane] += p[i[lane]];
  }
  for (; i != end; ++i) sums[0] += p[*i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Users' lists lie scattered in memory and are too short for the processor's own prefetching: this
/// prefetches the first lines of a list.
void prefetch_row(CsrView x, std::int32_t user) {
  constexpr std::int64_t line = 64 / sizeof(std::int32_t);
  const std::int32_t* const start = x.indices.data() + x.offsets[user];
  const std::int64_t size = std::min<std::int64_t>(x.row_size(user), 16 * line);
  for (std::int64_t at = 0; at < size; at += line) __builtin_prefetch(start + at);
}

/// One system: p and the float64 sums stay in the second-level cache while the users' items are read.
template <class T>
void add_column(CsrView x, Indices users, std::span<const float> weights, const T* p, std::span<double> sums,
                std::span<T> out) {
  std::fill(sums.begin(), sums.end(), 0.0);
  for (std::size_t e = 0; e < users.size(); ++e) {
    if (e + 2 < users.size()) prefetch_row(x, users[e + 2]);
    const auto items = x.row(users[e]);
    const double weight = weights.empty() ? 1 : weights[e];
    const double term = weight * gather(p, items);
    for (const std::int32_t j : items) sums[j] += term;
  }
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = static_cast<T>(out[j] + sums[j]);
}

template <class T>
void tiled_column_hessian(int threads, CsrView x, CsrView columns, Indices items, MatrixView<const T> p,
                          MatrixView<T> out) {
  assert(p.rows == out.rows && p.cols == x.cols && out.cols == x.cols && columns.cols == x.rows);
  assert(static_cast<std::int64_t>(items.size()) == p.rows);
  for_each_tile(p.rows, threads, [&](std::int64_t s) {
    std::vector<double> sums(x.cols);
    add_column<T>(x, columns.row(items[s]), columns.row_values(items[s]), p.row(s).data(), sums, out.row(s));
  });
}

}  // namespace

void CpuBackend::column_hessian(CsrView x, CsrView columns, Indices items, In<float> p, Out<float> out) {
  tiled_column_hessian(threads_, x, columns, items, p.host(), out.host());
}
void CpuBackend::column_hessian(CsrView x, CsrView columns, Indices items, In<double> p, Out<double> out) {
  tiled_column_hessian(threads_, x, columns, items, p.host(), out.host());
}

}  // namespace poise
