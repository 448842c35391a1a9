#include "poise/model/neighbours/normal_products.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "poise/linalg/simd.hpp"

// Vectors are passed only between functions that are inlined, so no calling convention is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace poise {
namespace {

using Group [[gnu::vector_size(normal_width * sizeof(double))]] = double;

POISE_INLINE Group load_group(const double* from) {
  Group group;
  std::memcpy(&group, from, sizeof group);
  return group;
}
POISE_INLINE void add_to(double* to, Group group) {
  group += load_group(to);
  std::memcpy(to, &group, sizeof group);
}

/// How many entries of X ahead lines are asked for.
constexpr std::int64_t entries_ahead = 24;

POISE_INLINE void multiply_users(const NormalProduct& product, const VectorGroup& P, VectorGroup& out) {
  const CsrView& X = product.X;
  const std::int32_t* const items = X.indices.data();
  const std::int64_t end = X.offsets[X.rows];
  auto weight = product.weights.begin();
  for (std::int64_t u = 0; u < X.rows; ++u) {
    const std::int64_t first = X.offsets[u];
    const std::int64_t last = X.offsets[u + 1];
    Group sum = {};
    for (std::int64_t e = first; e < last; ++e) {
      if (e + entries_ahead < end) {
        __builtin_prefetch(P.row(items[e + entries_ahead]));
        __builtin_prefetch(out.row(items[e + entries_ahead]), 1);
      }
      sum += load_group(P.row(items[e]));
    }
    Group t = sum;
    if (!product.a.empty()) t *= static_cast<double>(product.a[u]);
    for (; weight != product.weights.end() && weight->user == u; ++weight)
      t[weight->vector] += weight->weight * sum[weight->vector];
    if (product.errors != nullptr) {
      const CsrView& support = product.errors->support;
      for (std::int64_t e = support.offsets[u]; e < support.offsets[u + 1]; ++e) {
        const double error = product.errors->values[e];
        if (product.Z != nullptr) t += error * load_group(product.Z->row(support.indices[e]));
        if (product.sums != nullptr) add_to(product.sums->row(support.indices[e]), error * sum);
      }
    }
    for (std::int64_t e = first; e < last; ++e) add_to(out.row(items[e]), t);
  }
}

}  // namespace

void VectorGroup::clear() { std::ranges::fill(values_, 0.0); }

void add_normal_product(const NormalProduct& product, const VectorGroup& P, VectorGroup& out) {
  static const auto version = simd::version<multiply_users>();
  version(product, P, out);
}

void add_feature_product(const FeatureRows& features, const VectorGroup& P, VectorGroup& out) {
  const CsrView F = features.rows();
  for (std::int64_t f = 0; f < F.rows; ++f) {
    const auto items = F.row(f);
    std::array<double, normal_width> t = {};
    for (std::size_t k = 0; k < items.size(); ++k) {
      const double value = value_of(F, f, k);
      for (std::int64_t c = 0; c < normal_width; ++c) t[c] += value * P.row(items[k])[c];
    }
    for (std::size_t k = 0; k < items.size(); ++k) {
      const double value = features.beta() * value_of(F, f, k);
      for (std::int64_t c = 0; c < normal_width; ++c) out.row(items[k])[c] += value * t[c];
    }
  }
}

}  // namespace poise
