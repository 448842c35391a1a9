#include <algorithm>
#include <new>
#include <utility>

#include "poise/backend/reference/reference_backend.hpp"
#include "poise/base/memory.hpp"

namespace poise {
namespace {

std::int64_t listed(std::span<const std::int32_t> list, std::int64_t k) { return list.empty() ? k : list[k]; }

template <class From, class To>
void plain_copy(MatrixView<const From> from, MatrixView<To> to) {
  for (std::int64_t r = 0; r < to.rows; ++r) {
    for (std::int64_t c = 0; c < to.cols; ++c) to(r, c) = static_cast<To>(from(r, c));
  }
}

template <class T>
void plain_combine(std::span<const Term<T>> terms, MatrixView<T> out) {
  for (std::int64_t r = 0; r < out.rows; ++r) {
    for (std::int64_t c = 0; c < out.cols; ++c) {
      double sum = 0;
      for (const Term<T>& term : terms) {
        const double row = term.rows.empty() ? 1 : term.rows[r];
        const double col = term.cols.empty() ? 1 : term.cols[c];
        sum += term.scale * row * col * term.x(r, c);
      }
      out(r, c) = static_cast<T>(sum);
    }
  }
}

template <class T>
void plain_add_rows(std::span<const double> factors, MatrixView<const T> x, MatrixView<T> y,
                    std::span<const std::int32_t> rows) {
  for (std::int64_t k = 0; k < x.rows; ++k) {
    if (factors[k] == 0) continue;
    for (std::int64_t c = 0; c < x.cols; ++c)
      y(rows[k], c) = static_cast<T>(y(rows[k], c) + factors[k] * x(k, c));
  }
}

template <class T>
void plain_dots(MatrixView<const T> x, MatrixView<const T> y, std::span<double> out) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    out[r] = 0;
    for (std::int64_t c = 0; c < x.cols; ++c) out[r] += static_cast<double>(x(r, c)) * y(r, c);
  }
}

template <class T>
void plain_copy_rows(MatrixView<const T> from, std::span<const std::int32_t> from_rows, MatrixView<T> to,
                     std::span<const std::int32_t> to_rows) {
  const auto count = static_cast<std::int64_t>(std::max(from_rows.size(), to_rows.size()));
  for (std::int64_t k = 0; k < count; ++k) {
    for (std::int64_t c = 0; c < to.cols; ++c) to(listed(to_rows, k), c) = from(listed(from_rows, k), c);
  }
}

template <class T>
void plain_get(MatrixView<const T> x, std::span<const std::int32_t> rows, std::span<const std::int32_t> cols,
               std::span<double> out) {
  for (std::int64_t k = 0; k < std::ssize(cols); ++k) out[k] = x(listed(rows, k), cols[k]);
}

template <class T>
void plain_set(MatrixView<T> x, std::span<const std::int32_t> cols, std::span<const double> values) {
  for (std::int64_t k = 0; k < std::ssize(cols); ++k) x(k, cols[k]) = static_cast<T>(values[k]);
}

}  // namespace

std::uint64_t ReferenceBackend::memory_bytes() const { return total_memory(); }
void* ReferenceBackend::allocate(std::uint64_t bytes) { return ::operator new (bytes, std::align_val_t{64}); }
void ReferenceBackend::release(void* memory) noexcept { ::operator delete (memory, std::align_val_t{64}); }

void ReferenceBackend::copy(MatrixView<const float> from, MatrixView<float> to) { plain_copy(from, to); }
void ReferenceBackend::copy(MatrixView<const double> from, MatrixView<double> to) { plain_copy(from, to); }
void ReferenceBackend::copy(MatrixView<const float> from, MatrixView<double> to) { plain_copy(from, to); }
void ReferenceBackend::copy(MatrixView<const double> from, MatrixView<float> to) { plain_copy(from, to); }

void ReferenceBackend::combine(std::span<const Term<float>> terms, MatrixView<float> out) {
  plain_combine(terms, out);
}
void ReferenceBackend::combine(std::span<const Term<double>> terms, MatrixView<double> out) {
  plain_combine(terms, out);
}
void ReferenceBackend::add_rows(std::span<const double> factors, MatrixView<const float> x,
                                MatrixView<float> y, std::span<const std::int32_t> rows) {
  plain_add_rows(factors, x, y, rows);
}
void ReferenceBackend::add_rows(std::span<const double> factors, MatrixView<const double> x,
                                MatrixView<double> y, std::span<const std::int32_t> rows) {
  plain_add_rows(factors, x, y, rows);
}
void ReferenceBackend::row_dots(MatrixView<const float> x, MatrixView<const float> y, std::span<double> out) {
  plain_dots(x, y, out);
}
void ReferenceBackend::row_dots(MatrixView<const double> x, MatrixView<const double> y,
                                std::span<double> out) {
  plain_dots(x, y, out);
}
void ReferenceBackend::copy_rows(MatrixView<const float> from, std::span<const std::int32_t> from_rows,
                                 MatrixView<float> to, std::span<const std::int32_t> to_rows) {
  plain_copy_rows(from, from_rows, to, to_rows);
}
void ReferenceBackend::copy_rows(MatrixView<const double> from, std::span<const std::int32_t> from_rows,
                                 MatrixView<double> to, std::span<const std::int32_t> to_rows) {
  plain_copy_rows(from, from_rows, to, to_rows);
}
void ReferenceBackend::get_entries(MatrixView<const float> x, std::span<const std::int32_t> rows,
                                   std::span<const std::int32_t> cols, std::span<double> out) {
  plain_get(x, rows, cols, out);
}
void ReferenceBackend::get_entries(MatrixView<const double> x, std::span<const std::int32_t> rows,
                                   std::span<const std::int32_t> cols, std::span<double> out) {
  plain_get(x, rows, cols, out);
}
void ReferenceBackend::set_entries(MatrixView<float> x, std::span<const std::int32_t> cols,
                                   std::span<const double> values) {
  plain_set(x, cols, values);
}
void ReferenceBackend::set_entries(MatrixView<double> x, std::span<const std::int32_t> cols,
                                   std::span<const double> values) {
  plain_set(x, cols, values);
}
void ReferenceBackend::transpose_in_place(MatrixView<float> a) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < i; ++j) std::swap(a(i, j), a(j, i));
  }
}

}  // namespace poise
