#include "poise/train/product_rate.hpp"

#include <algorithm>
#include <chrono>

#include "poise/backend/resident.hpp"

namespace poise {

double product_rate(Backend& backend) {
  // A product that keeps a processor busy is too small for a GPU.
  const std::int64_t size = backend.traits().own_memory ? 4096 : 1024;
  const Resident<float> a(backend, Matrix<float>(size, size, 1.0F));
  Resident<float> c(backend, size, size);
  Matrix<float> entry(1, 1);
  const auto multiply = [&] {
    const auto begin = std::chrono::steady_clock::now();
    backend.gemm(Op::none, Op::none, 1.0F, a.view(), a.view(), 0.0F, c.view());
    // The GPU has finished when a part of its result has been copied.
    backend.download(c.view().block(0, 1).columns(0, 1), entry.view());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  multiply();
  const auto n = static_cast<double>(size);
  return 2 * n * n * n / std::min({multiply(), multiply(), multiply()});
}

}  // namespace poise
