#include <algorithm>
#include <new>
#include <utility>

#include "poise/backend/reference/reference_backend.hpp"
#include "poise/base/memory.hpp"

namespace poise {
namespace {

std::int64_t listed(Indices list, std::int64_t k) { return list.empty() ? k : list[k]; }

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
        sum += term.scale * row * col * term.x.host()(r, c);
      }
      out(r, c) = static_cast<T>(sum);
    }
  }
}

template <class T>
void plain_add_rows(Numbers factors, MatrixView<const T> x, MatrixView<T> y, Indices rows) {
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
void plain_copy_rows(MatrixView<const T> from, Indices from_rows, MatrixView<T> to, Indices to_rows) {
  const auto count = static_cast<std::int64_t>(std::max(from_rows.size(), to_rows.size()));
  for (std::int64_t k = 0; k < count; ++k) {
    for (std::int64_t c = 0; c < to.cols; ++c) to(listed(to_rows, k), c) = from(listed(from_rows, k), c);
  }
}

template <class T>
void plain_get(MatrixView<const T> x, Indices rows, Indices cols, std::span<double> out) {
  for (std::int64_t k = 0; k < std::ssize(cols); ++k) out[k] = x(listed(rows, k), cols[k]);
}

template <class T>
void plain_set(MatrixView<T> x, Indices cols, Numbers values) {
  for (std::int64_t k = 0; k < std::ssize(cols); ++k) x(k, cols[k]) = static_cast<T>(values[k]);
}

}  // namespace

std::uint64_t ReferenceBackend::memory_bytes() const { return total_memory(); }
void* ReferenceBackend::allocate(std::uint64_t bytes) { return ::operator new (bytes, std::align_val_t{64}); }
void ReferenceBackend::release(void* memory) noexcept { ::operator delete (memory, std::align_val_t{64}); }

void ReferenceBackend::copy(In<float> from, Out<float> to) { plain_copy(from.host(), to.host()); }
void ReferenceBackend::copy(In<double> from, Out<double> to) { plain_copy(from.host(), to.host()); }
void ReferenceBackend::copy(In<float> from, Out<double> to) { plain_copy(from.host(), to.host()); }
void ReferenceBackend::copy(In<double> from, Out<float> to) { plain_copy(from.host(), to.host()); }

void ReferenceBackend::upload(MatrixView<const float> from, Out<float> to) { plain_copy(from, to.host()); }
void ReferenceBackend::upload(MatrixView<const double> from, Out<double> to) { plain_copy(from, to.host()); }
void ReferenceBackend::download(In<float> from, MatrixView<float> to) { plain_copy(from.host(), to); }
void ReferenceBackend::download(In<double> from, MatrixView<double> to) { plain_copy(from.host(), to); }

void ReferenceBackend::combine(std::span<const Term<float>> terms, Out<float> out) {
  plain_combine(terms, out.host());
}
void ReferenceBackend::combine(std::span<const Term<double>> terms, Out<double> out) {
  plain_combine(terms, out.host());
}
void ReferenceBackend::add_rows(Numbers factors, In<float> x, Out<float> y, Indices rows) {
  plain_add_rows(factors, x.host(), y.host(), rows);
}
void ReferenceBackend::add_rows(Numbers factors, In<double> x, Out<double> y, Indices rows) {
  plain_add_rows(factors, x.host(), y.host(), rows);
}
void ReferenceBackend::row_dots(In<float> x, In<float> y, std::span<double> out) {
  plain_dots(x.host(), y.host(), out);
}
void ReferenceBackend::row_dots(In<double> x, In<double> y, std::span<double> out) {
  plain_dots(x.host(), y.host(), out);
}
void ReferenceBackend::copy_rows(In<float> from, Indices from_rows, Out<float> to, Indices to_rows) {
  plain_copy_rows(from.host(), from_rows, to.host(), to_rows);
}
void ReferenceBackend::copy_rows(In<double> from, Indices from_rows, Out<double> to, Indices to_rows) {
  plain_copy_rows(from.host(), from_rows, to.host(), to_rows);
}
void ReferenceBackend::get_entries(In<float> x, Indices rows, Indices cols, std::span<double> out) {
  plain_get(x.host(), rows, cols, out);
}
void ReferenceBackend::get_entries(In<double> x, Indices rows, Indices cols, std::span<double> out) {
  plain_get(x.host(), rows, cols, out);
}
void ReferenceBackend::set_entries(Out<float> x, Indices cols, Numbers values) {
  plain_set(x.host(), cols, values);
}
void ReferenceBackend::set_entries(Out<double> x, Indices cols, Numbers values) {
  plain_set(x.host(), cols, values);
}
void ReferenceBackend::transpose_in_place(Out<float> a) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < i; ++j) std::swap(a.host()(i, j), a.host()(j, i));
  }
}

}  // namespace poise
