#include "poise/model/full_rank/feature_change.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "poise/backend/resident.hpp"
#include "poise/base/parallel.hpp"
#include "poise/solver/feature_rows.hpp"

namespace poise {

namespace {

void add_row(RowChange& change, std::span<const std::int32_t> items, const auto& value, double sign) {
  Csr& P = change.features;
  for (std::size_t k = 0; k < items.size(); ++k) {
    P.indices.push_back(items[k]);
    P.values.push_back(static_cast<float>(value(k)));
  }
  P.offsets.push_back(P.entries());
  ++P.rows;
  change.feature_sign.push_back(sign);
}

void add_by_features(CsrView before, CsrView after, double beta, std::span<const std::int32_t> features,
                     RowChange& change) {
  for (const auto& [F, sign] : {std::pair(after, beta), std::pair(before, -beta)}) {
    for (const std::int32_t f : features) {
      if (F.row_size(f) > 0)
        add_row(
            change, F.row(f), [&](std::size_t k) { return value_of(F, f, k); }, sign);
    }
  }
}

void add_by_items(CsrView after, CsrView items, double beta, std::span<const std::int32_t> described,
                  RowChange& change) {
  std::vector<double> v(after.cols);
  std::vector<std::int32_t> there;
  for (const double sign : {beta / 2, -beta / 2}) {
    for (const std::int32_t i : described) {
      std::ranges::fill(v, 0.0);
      double square = 0;
      for (std::size_t k = 0; k < items.row(i).size(); ++k) {
        const std::int32_t f = items.row(i)[k];
        const double own = value_of(items, i, k);
        square += own * own;
        for (std::size_t e = 0; e < after.row(f).size(); ++e)
          v[after.row(f)[e]] += own * value_of(after, f, e);
      }
      for (const std::int32_t other : described) v[other] /= 2;
      const double g = std::exp2(std::round(std::log2(square) / 2));
      there.clear();
      for (std::int32_t j = 0; j < after.cols; ++j) {
        if (v[j] != 0) there.push_back(j);
      }
      const auto entry = [&](std::size_t k) {
        return (there[k] == i ? g : 0.0) + (sign > 0 ? 1 : -1) * v[there[k]] / g;
      };
      add_row(change, there, entry, sign);
    }
  }
}

}  // namespace

void add_feature_change(CsrView before, CsrView after, double beta, std::span<const std::int32_t> described,
                        FeatureRowsOf rows, RowChange& change) {
  if (!(beta > 0) || described.empty()) return;
  const Csr items = transpose(after);
  std::vector<std::int32_t> features;
  for (const std::int32_t i : described)
    features.insert(features.end(), items.view().row(i).begin(), items.view().row(i).end());
  std::ranges::sort(features);
  features.erase(std::unique(features.begin(), features.end()), features.end());
  change.features.cols = after.cols;
  const bool by_features = rows == FeatureRowsOf::features ||
                           (rows == FeatureRowsOf::fewer && features.size() <= described.size());
  if (by_features) {
    add_by_features(before, after, beta, features, change);
  } else {
    add_by_items(after, items.view(), beta, described, change);
  }
}

template <class T>
void subtract_feature_terms(const RowChange& change, In<T> h, Out<T> r, Backend& backend, int threads) {
  const CsrView P = change.features.view();
  if (P.rows == 0) return;
  Matrix<T> vectors(h.rows, h.cols);
  backend.download(h, vectors.view());
  for_each_tile(vectors.rows(), threads, [&](std::int64_t s) {
    std::vector<double> sum(vectors.cols(), 0.0);
    for (std::int64_t p = 0; p < P.rows; ++p) {
      double product = 0;
      for (std::size_t k = 0; k < P.row(p).size(); ++k)
        product += value_of(P, p, k) * static_cast<double>(vectors(s, P.row(p)[k]));
      product *= change.feature_sign[p];
      for (std::size_t k = 0; k < P.row(p).size(); ++k) sum[P.row(p)[k]] += value_of(P, p, k) * product;
    }
    std::ranges::transform(sum, vectors.row(s).begin(), [](double term) { return static_cast<T>(term); });
  });
  const Lent<T> terms(backend, vectors);
  backend.combine(std::vector<Term<T>>{{.x = r}, {.x = terms.view(), .scale = -1}}, r);
}

template void subtract_feature_terms<float>(const RowChange&, In<float>, Out<float>, Backend&, int);
template void subtract_feature_terms<double>(const RowChange&, In<double>, Out<double>, Backend&, int);

}  // namespace poise
