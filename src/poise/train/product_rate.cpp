#include "poise/train/product_rate.hpp"

#include <algorithm>
#include <chrono>

#include "poise/linalg/matrix.hpp"

namespace poise {

double product_rate(Backend& backend) {
  constexpr std::int64_t size = 1024;
  const Matrix<float> a(size, size, 1.0F);
  Matrix<float> c(size, size);
  const auto multiply = [&] {
    const auto begin = std::chrono::steady_clock::now();
    backend.gemm(Op::none, Op::none, 1.0F, a.view(), a.view(), 0.0F, c.view());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  multiply();
  return 2.0 * size * size * size / std::min({multiply(), multiply(), multiply()});
}

}  // namespace poise
