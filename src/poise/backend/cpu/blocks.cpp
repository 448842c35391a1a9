#include <algorithm>
#include <new>
#include <vector>

#include "poise/backend/cpu/cpu_backend.hpp"
#include "poise/backend/cpu/row_systems.hpp"
#include "poise/base/memory.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/symmetric_eigen.hpp"
#include "poise/linalg/top_k.hpp"
#include "poise/linalg/vector.hpp"

namespace poise {
namespace {

constexpr std::int64_t columns_per_tile = 4096;

/// One row where rows are long, as many as make up a tile where they are short.
Tiling row_tiles(std::int64_t rows, std::int64_t cols) {
  return {rows, std::max<std::int64_t>(1, columns_per_tile / std::max<std::int64_t>(1, cols))};
}

template <class From, class To>
void copy_matrix(MatrixView<const From> from, MatrixView<To> to, int threads) {
  for_each_row(row_tiles(to.rows, to.cols), threads, [&](std::int64_t k) {
    const From* const source = from.data + k * from.stride;
    std::ranges::transform(source, source + to.cols, to.row(k).begin(),
                           [](From value) { return static_cast<To>(value); });
  });
}

/// sum += factor cols o x.
template <class T>
void add_term(const Term<T>& term, std::int64_t row, std::int64_t first, std::span<double> sum) {
  const double factor = term.scale * (term.rows.empty() ? 1.0 : term.rows[row]);
  const T* const x = term.x.data + row * term.x.stride + first;
  if (term.cols.empty()) {
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += factor * static_cast<double>(x[j]);
  } else {
    const double* const cols = term.cols.data() + first;
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += factor * cols[j] * static_cast<double>(x[j]);
  }
}

/// Columns [begin, end) of a row.
template <class T>
void combine_row(std::span<const Term<T>> terms, std::int64_t row, std::int64_t begin, std::int64_t end,
                 MatrixView<T> out) {
  const Tiling tiling{end - begin, 512};
  double sums[512];
  for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
    const std::int64_t first = begin + tiling.first(tile);
    const std::span<double> sum(sums, begin + tiling.last(tile) - first);
    std::ranges::fill(sum, 0.0);
    for (const Term<T>& term : terms) add_term(term, row, first, sum);
    std::ranges::transform(sum, out.row(row).begin() + first, [](double s) { return static_cast<T>(s); });
  }
}

template <class T>
void combine_terms(std::span<const Term<T>> terms, MatrixView<T> out, int threads) {
  if (out.rows > 1) {
    for_each_row(row_tiles(out.rows, out.cols), threads,
                 [&](std::int64_t k) { combine_row(terms, k, 0, out.cols, out); });
    return;
  }
  const Tiling tiling{out.rows == 0 ? 0 : out.cols, std::int64_t{1} << 16};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    combine_row(terms, 0, tiling.first(tile), tiling.last(tile), out);
  });
}

template <class T>
void add_listed(Numbers factors, MatrixView<const T> x, MatrixView<T> y, Indices rows, int threads) {
  for_each_row(row_tiles(x.rows, x.cols), threads, [&](std::int64_t k) {
    if (factors[k] == 0) return;
    const std::span<T> to = y.row(rows[k]);
    std::ranges::transform(x.row(k), to, to.begin(), [&](T from, T sum) {
      return static_cast<T>(static_cast<double>(sum) + factors[k] * static_cast<double>(from));
    });
  });
}

template <class T>
void dot_rows(MatrixView<const T> x, MatrixView<const T> y, std::span<double> out, int threads) {
  for_each_row(row_tiles(x.rows, x.cols), threads, [&](std::int64_t k) { out[k] = dot(x.row(k), y.row(k)); });
}

std::int64_t at(Indices list, std::int64_t k) { return list.empty() ? k : list[k]; }

template <class T>
void copy_listed(MatrixView<const T> from, Indices from_rows, MatrixView<T> to, Indices to_rows,
                 int threads) {
  const auto count = static_cast<std::int64_t>(std::max(from_rows.size(), to_rows.size()));
  for_each_row(row_tiles(count, to.cols), threads, [&](std::int64_t k) {
    // Not std::ranges::copy: GCC 12's copies constant elements in a loop, not by memmove.
    const auto source = from.row(at(from_rows, k));
    std::copy(source.begin(), source.end(), to.row(at(to_rows, k)).begin());
  });
}

template <class T>
void get(MatrixView<const T> x, Indices rows, Indices cols, std::span<double> out) {
  for (std::size_t k = 0; k < cols.size(); ++k) out[k] = x(at(rows, static_cast<std::int64_t>(k)), cols[k]);
}

template <class T>
void set(MatrixView<T> x, Indices cols, Numbers values) {
  for (std::size_t k = 0; k < cols.size(); ++k)
    x(static_cast<std::int64_t>(k), cols[k]) = static_cast<T>(values[k]);
}

template <class T>
void form(CsrView x, CsrView columns, Indices items, MatrixView<const T> p, std::span<double> out,
          std::span<double> scores, int threads) {
  std::vector<std::int64_t> first(scores.empty() ? 0 : items.size(), 0);
  for (std::size_t s = 1; s < first.size(); ++s) first[s] = first[s - 1] + columns.row_size(items[s - 1]);
  for_each_tile(p.rows, threads, [&](std::int64_t s) {
    const auto users = columns.row(items[s]);
    const auto weights = columns.row_values(items[s]);
    const T* const entries = p.data + s * p.stride;
    double sum = 0;
    for (std::size_t k = 0; k < users.size(); ++k) {
      double score = 0;
      for (const std::int32_t j : x.row(users[k])) score += static_cast<double>(entries[j]);
      sum += (weights.empty() ? 1.0 : static_cast<double>(weights[k])) * score;
      if (!scores.empty()) scores[first[s] + static_cast<std::int64_t>(k)] = score;
    }
    out[s] = sum;
  });
}

/// Three factors of a product, ones where a span is empty.
double triple(std::span<const float> c, std::span<const float> x, std::span<const float> y, std::int64_t e) {
  const auto of = [&](std::span<const float> values) {
    return values.empty() ? 1.0 : static_cast<double>(values[e]);
  };
  return of(c) * of(x) * of(y);
}

}  // namespace

std::uint64_t CpuBackend::memory_bytes() const { return total_memory(); }

void* CpuBackend::allocate(std::uint64_t bytes) { return ::operator new (bytes, std::align_val_t{64}); }
void CpuBackend::release(void* memory) noexcept { ::operator delete (memory, std::align_val_t{64}); }

void CpuBackend::copy(In<float> from, Out<float> to) { copy_matrix(from.host(), to.host(), threads_); }
void CpuBackend::copy(In<double> from, Out<double> to) { copy_matrix(from.host(), to.host(), threads_); }
void CpuBackend::copy(In<float> from, Out<double> to) { copy_matrix(from.host(), to.host(), threads_); }
void CpuBackend::copy(In<double> from, Out<float> to) { copy_matrix(from.host(), to.host(), threads_); }

void CpuBackend::upload(MatrixView<const float> from, Out<float> to) {
  copy_matrix(from, to.host(), threads_);
}
void CpuBackend::upload(MatrixView<const double> from, Out<double> to) {
  copy_matrix(from, to.host(), threads_);
}
void CpuBackend::download(In<float> from, MatrixView<float> to) { copy_matrix(from.host(), to, threads_); }
void CpuBackend::download(In<double> from, MatrixView<double> to) { copy_matrix(from.host(), to, threads_); }

void CpuBackend::combine(std::span<const Term<float>> terms, Out<float> out) {
  combine_terms(terms, out.host(), threads_);
}
void CpuBackend::combine(std::span<const Term<double>> terms, Out<double> out) {
  combine_terms(terms, out.host(), threads_);
}

void CpuBackend::add_rows(Numbers factors, In<float> x, Out<float> y, Indices rows) {
  add_listed(factors, x.host(), y.host(), rows, threads_);
}
void CpuBackend::add_rows(Numbers factors, In<double> x, Out<double> y, Indices rows) {
  add_listed(factors, x.host(), y.host(), rows, threads_);
}

void CpuBackend::row_dots(In<float> x, In<float> y, std::span<double> out) {
  dot_rows(x.host(), y.host(), out, threads_);
}
void CpuBackend::row_dots(In<double> x, In<double> y, std::span<double> out) {
  dot_rows(x.host(), y.host(), out, threads_);
}

void CpuBackend::copy_rows(In<float> from, Indices from_rows, Out<float> to, Indices to_rows) {
  copy_listed(from.host(), from_rows, to.host(), to_rows, threads_);
}
void CpuBackend::copy_rows(In<double> from, Indices from_rows, Out<double> to, Indices to_rows) {
  copy_listed(from.host(), from_rows, to.host(), to_rows, threads_);
}

void CpuBackend::get_entries(In<float> x, Indices rows, Indices cols, std::span<double> out) {
  get(x.host(), rows, cols, out);
}
void CpuBackend::get_entries(In<double> x, Indices rows, Indices cols, std::span<double> out) {
  get(x.host(), rows, cols, out);
}
void CpuBackend::set_entries(Out<float> x, Indices cols, Numbers values) { set(x.host(), cols, values); }
void CpuBackend::set_entries(Out<double> x, Indices cols, Numbers values) { set(x.host(), cols, values); }

void CpuBackend::transpose_in_place(Out<float> a) {
  const Tiling tiling{a.rows, 64};
  for_each_tile(tiling.tiles(), threads_, [&](std::int64_t tile) {
    for (std::int64_t other = 0; other <= tile; ++other) {
      for (std::int64_t i = tiling.first(tile); i < tiling.last(tile); ++i) {
        const std::int64_t end = std::min(i, tiling.last(other));
        for (std::int64_t j = tiling.first(other); j < end; ++j) std::swap(a.host()(i, j), a.host()(j, i));
      }
    }
  });
}

void CpuBackend::multiply_symmetric(In<float> r, In<float> a, Out<float> y) {
  gemm(Op::none, Op::none, 1.0F, r, a, 0.0F, y);
}

void CpuBackend::column_form(CsrView x, CsrView columns, Indices items, In<float> p, std::span<double> out,
                             std::span<double> scores) {
  form(x, columns, items, p.host(), out, scores, threads_);
}
void CpuBackend::column_form(CsrView x, CsrView columns, Indices items, In<double> p, std::span<double> out,
                             std::span<double> scores) {
  form(x, columns, items, p.host(), out, scores, threads_);
}

double CpuBackend::triple_dot(std::span<const float> c, std::span<const float> x, std::span<const float> y) {
  const Tiling tiling{static_cast<std::int64_t>(std::max({c.size(), x.size(), y.size()})),
                      std::int64_t{1} << 16};
  std::vector<double> parts(tiling.tiles(), 0.0);
  for_each_tile(tiling.tiles(), threads_, [&](std::int64_t tile) {
    for (std::int64_t e = tiling.first(tile); e < tiling.last(tile); ++e) parts[tile] += triple(c, x, y, e);
  });
  double total = 0;
  for (const double part : parts) total += part;
  return total;
}

void CpuBackend::divide_by_products(Out<float> x, Numbers s, Numbers t, double shift) {
  for_each_row(row_tiles(x.rows, x.cols), threads_, [&](std::int64_t i) {
    for (std::int64_t j = 0; j < x.cols; ++j) {
      const double divisor = s[i] * t[j] + shift;
      x.host()(i, j) = divisor > 0 ? static_cast<float>(x.host()(i, j) / divisor) : 0.0F;
    }
  });
}

RowsSolved CpuBackend::solve_rows(const RowSystems& systems, Out<float> y, RowTolerance tolerance,
                                  RowRoute route) {
  return poise::solve_rows(systems, y.host(), tolerance, {threads_, observer_}, route);
}
RowsChecked CpuBackend::check_rows(const RowSystems& systems, In<float> v, In<double> E,
                                   In<double> E_inverse) {
  return poise::check_rows(systems, v.host(), E.host(), E_inverse.host(), {threads_, observer_});
}

EigenPairs CpuBackend::symmetric_eigenpairs(Out<double> a, std::int64_t count) {
  return top_eigenpairs(a.host(), count);
}
EigenPairs CpuBackend::symmetric_eigenpairs(Out<float> a, std::int64_t count) {
  Matrix<double> wide(a.rows, a.cols);
  copy_matrix(In<float>(a).host(), wide.view(), threads_);
  return top_eigenpairs(wide.view(), count);
}

RankedLists CpuBackend::top_k(In<float> scores, CsrView excluded, std::int64_t k,
                              std::optional<Indices> only) {
  RankedLists lists(scores.rows, std::min(k, scores.cols));
  for_each_row({scores.rows, 16}, threads_, [&](std::int64_t row) {
    lists.resize(row, poise::top_k(scores.host().row(row), {.excluded = excluded.row(row), .only = only},
                                   lists.item_slots(row), lists.score_slots(row)));
  });
  return lists;
}

}  // namespace poise
