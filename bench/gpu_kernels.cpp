#include "gpu_kernels.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "poise/base/parallel.hpp"

namespace poise {

void KernelRates::finish(In<float> x) const {
  Matrix<float> entry(1, 1);
  backend_.download(x.block(0, 1).columns(0, 1), entry.view());
}

template <class Body>
double KernelRates::time_kernel(In<float> out, const Body& body) const {
  double shortest = 1e300;
  for (int run = 0; run < 4; ++run) {
    finish(out);
    const auto begin = Clock::now();
    body();
    finish(out);
    if (run > 0) shortest = std::min(shortest, seconds_since(begin));
  }
  return shortest;
}

KernelRates::KernelRates(Backend& backend, int threads) : backend_(backend), threads_(threads) {
  const bool host = !backend_.traits().own_memory;
  const std::int64_t n = host ? 1024 : 8192;
  const Resident<float> a(backend_, random_square(n, threads_));
  Resident<float> c(backend_, n, n);
  const auto size = static_cast<double>(n);
  product_ = 2 * size * size * size / time_kernel(std::as_const(c).view(), [&] {
               backend_.gemm(Op::none, Op::none, 1.0F, a.view(), a.view(), 0.0F, c.view());
             });
  const std::int64_t rows = host ? 4096 : 65536;
  const Resident<float> from(backend_, rows, 8192);
  Resident<float> to(backend_, rows, 8192);
  copy_ = 2 * 4 * static_cast<double>(rows) * 8192 /
          time_kernel(std::as_const(to).view(), [&] { backend_.copy(from.view(), to.view()); });
}

Matrix<float> random_square(std::int64_t n, int threads) {
  Matrix<float> matrix(n, n);
  for_each_tile(n, threads, [&](std::int64_t r) {
    std::uint64_t state = 88172645463325252ULL + static_cast<std::uint64_t>(r) * 0x9E3779B97F4A7C15ULL;
    for (float& value : matrix.row(r)) {
      state ^= state << 13U;
      state ^= state >> 7U;
      state ^= state << 17U;
      value = static_cast<float>(state >> 40U) * 0x1p-24F - 0.3F;
    }
  });
  return matrix;
}

double KernelRates::inverse_share(CsrView X) const {
  const std::int64_t n = X.cols;
  Resident<float> gram(backend_, n, n);
  backend_.gram(X, {}, gram.view());
  std::vector<std::int32_t> diagonal(n);
  std::iota(diagonal.begin(), diagonal.end(), 0);
  std::vector<double> values(n);
  backend_.get_entries(std::as_const(gram).view(), {}, diagonal, values);
  for (double& value : values) value += 500;
  backend_.set_entries(gram.view(), diagonal, values);
  finish(gram.view());
  const auto begin = Clock::now();
  static_cast<void>(backend_.invert_spd(gram.view()));
  finish(gram.view());
  const auto size = static_cast<double>(n);
  return size * size * size / seconds_since(begin) / product_;
}

double KernelRates::product_share(std::int64_t n) const {
  const std::int64_t rows = std::min<std::int64_t>(n, 4096);
  // Random numbers: products of zeros take less power, and so less time.
  const Resident<float> a(backend_, random_square(n, threads_));
  Resident<float> r(backend_, rows, n);
  backend_.copy(a.view().block(0, rows), r.view());
  Resident<float> y(backend_, rows, n);
  const double seconds = time_kernel(std::as_const(y).view(), [&] {
    backend_.multiply_symmetric(std::as_const(r).view(), a.view(), y.view());
  });
  return 2 * static_cast<double>(rows) * static_cast<double>(n) * static_cast<double>(n) / seconds / product_;
}

double KernelRates::hessian_share(CsrView X, CsrView transposed) const {
  const std::int64_t n = X.cols;
  const std::int64_t count = std::min<std::int64_t>(n, 2048);
  std::vector<std::int32_t> items;
  for (std::int64_t k = 0; k < count; ++k) items.push_back(static_cast<std::int32_t>(k * n / count));
  const Pin pin = backend_.pin(X);
  const Pin pin_columns = backend_.pin(transposed);
  const Resident<float> p(backend_, count, n);
  Resident<float> out(backend_, count, n);
  const double seconds = time_kernel(std::as_const(out).view(), [&] {
    backend_.column_hessian(X, transposed, items, p.view(), out.view());
  });
  double entries = 0;
  for (const std::int32_t item : items) {
    for (const std::int32_t user : transposed.row(item)) entries += static_cast<double>(X.row_size(user));
  }
  return 4 * entries / seconds / copy_;
}

double KernelRates::spmm_share(CsrView X, std::int64_t rank) const {
  const Pin pin = backend_.pin(X);
  const Resident<float> b(backend_, X.cols, rank);
  Resident<float> y(backend_, X.rows, rank);
  const double seconds = time_kernel(std::as_const(y).view(), [&] { backend_.spmm(X, b.view(), y.view()); });
  return 4 * static_cast<double>((X.entries() + X.rows) * rank) / seconds / copy_;
}

double KernelRates::scoring_share(CsrView all, MatrixView<const float> B) const {
  const CsrView histories = all.block(0, std::min<std::int64_t>(all.rows, 4096));
  const Resident<float> b(backend_, B);
  Resident<float> y(backend_, histories.rows, all.cols);
  const double seconds =
      time_kernel(std::as_const(y).view(), [&] { backend_.spmm(histories, b.view(), y.view()); });
  return 4 * static_cast<double>((histories.entries() + histories.rows) * all.cols) / seconds / copy_;
}

double KernelRates::top_k_share(CsrView all) const {
  const CsrView histories = all.block(0, std::min<std::int64_t>(all.rows, 4096));
  const Resident<float> y(backend_, random_square(all.cols, threads_));
  const std::int64_t rows = std::min(histories.rows, y.rows());
  const double seconds = time_kernel(y.view(), [&] {
    static_cast<void>(backend_.top_k(y.view().block(0, rows), histories.block(0, rows), 100));
  });
  return 4 * static_cast<double>(rows * all.cols) / seconds / copy_;
}

}  // namespace poise
