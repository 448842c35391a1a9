#include <vector>

#include "poise/backend/reference/reference_backend.hpp"

namespace poise {
namespace {

double plain_dot(MatrixView<const float> t, std::int64_t u, MatrixView<const float> v, std::int64_t i) {
  double sum = 0;
  for (std::int64_t j = 0; j < v.cols; ++j) sum += static_cast<double>(t(u, j)) * v(i, j);
  return sum;
}

}  // namespace

void ReferenceBackend::sampled_dots(CsrView x, In<float> t, In<float> v, std::span<float> out) {
  for (std::int64_t u = 0; u < x.rows; ++u) {
    for (std::int64_t e = x.offsets[u]; e < x.offsets[u + 1]; ++e) {
      out[e] = static_cast<float>(plain_dot(t.host(), u, v.host(), x.indices[e]));
    }
  }
}

void ReferenceBackend::sampled_product(CsrView x, std::span<const float> w, std::span<const float> c,
                                       In<float> t, In<float> v, Out<float> s) {
  for (std::int64_t u = 0; u < x.rows; ++u) {
    std::vector<double> sums(v.cols);
    for (std::int64_t e = x.offsets[u]; e < x.offsets[u + 1]; ++e) {
      const std::int32_t i = x.indices[e];
      const double target = w.empty() ? 0 : w[e];
      const double scale = target - (c.empty() ? 0 : c[e] * plain_dot(t.host(), u, v.host(), i));
      for (std::int64_t j = 0; j < v.cols; ++j) sums[j] += scale * v.host()(i, j);
    }
    for (std::int64_t j = 0; j < v.cols; ++j) s.host()(u, j) = static_cast<float>(s.host()(u, j) + sums[j]);
  }
}

}  // namespace poise
