#include "poise/solver/feature_rows.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace poise {
namespace {

constexpr std::int64_t items_together = 256;

}  // namespace

FeatureRows::FeatureRows(CsrView F, double beta) : beta_(beta) {
  if (F.rows == 0 || !(beta > 0)) return;
  F_ = F;
  by_item_ = transpose(F);
}

std::vector<double> FeatureRows::observed() const {
  std::vector<double> result(by_item_.rows, 0.0);
  const CsrView items = of_items();
  for (std::int64_t i = 0; i < items.rows; ++i) {
    for (std::size_t k = 0; k < items.row(i).size(); ++k)
      result[i] += beta_ * value_of(items, i, k) * value_of(items, i, k);
  }
  return result;
}

std::uint64_t FeatureRows::fingerprint() const {
  if (empty()) return 0;
  constexpr std::uint64_t prime = 0x100000001b3;
  std::uint64_t hash = support_fingerprint(F_) ^ std::bit_cast<std::uint64_t>(beta_);
  for (const float value : F_.values) hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * prime;
  return hash;
}

void FeatureRows::add_gram_row(std::int32_t i, std::span<double> to) const {
  const CsrView items = of_items();
  const auto features = items.row(i);
  for (std::size_t k = 0; k < features.size(); ++k) {
    const double factor = value_of(items, i, k);
    const auto others = F_.row(features[k]);
    for (std::size_t e = 0; e < others.size(); ++e) to[others[e]] += factor * value_of(F_, features[k], e);
  }
}

template <class T>
void FeatureRows::add_gram(Out<T> G, Backend& backend, const Execution& execution) const {
  if (empty()) return;
  const Tiling tiling{G.rows, items_together};
  for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
    stop_if_asked(execution.observer);
    const std::int64_t first = tiling.first(tile);
    Matrix<T> rows(tiling.last(tile) - first, G.cols);
    for_each_tile(rows.rows(), execution.threads, [&](std::int64_t k) {
      std::vector<double> sums(G.cols, 0.0);
      add_gram_row(static_cast<std::int32_t>(first + k), sums);
      std::ranges::transform(sums, rows.row(k).begin(),
                             [&](double sum) { return static_cast<T>(beta_ * sum); });
    });
    const Out<T> to = G.block(first, rows.rows());
    const Lent<T> lent(backend, rows);
    backend.combine(std::vector<Term<T>>{{.x = to}, {.x = lent.view()}}, to);
  }
}

void FeatureRows::add_product(In<double> v, Out<double> y, Backend& backend) const {
  if (empty()) return;
  Resident<double> Fv(backend, F_.rows, v.cols);
  Resident<double> FtFv(backend, y.rows, y.cols);
  backend.spmm(F_, v, Fv.view());
  backend.spmm(of_items(), readable(Fv), FtFv.view());
  backend.combine(std::vector<Term<double>>{{.x = y}, {.x = FtFv.view(), .scale = beta_}}, y);
}

template <class T>
void FeatureRows::add_forms(std::span<const std::int32_t> items, In<T> p, std::span<double> out,
                            Backend& backend, const Execution& execution) const {
  if (empty()) return;
  Matrix<T> copy;
  if (backend.traits().own_memory) {
    copy = Matrix<T>(p.rows, p.cols);
    backend.download(p, copy.view());
  }
  const MatrixView<const T> vectors = backend.traits().own_memory ? std::as_const(copy).view() : p.host();
  for_each_tile(vectors.rows, execution.threads, [&](std::int64_t s) {
    const auto features = of_items().row(items[s]);
    double sum = 0;
    for (std::size_t k = 0; k < features.size(); ++k) {
      const auto others = F_.row(features[k]);
      double product = 0;  // F_f . p_s
      for (std::size_t e = 0; e < others.size(); ++e)
        product += value_of(F_, features[k], e) * static_cast<double>(vectors(s, others[e]));
      sum += value_of(of_items(), items[s], k) * product;
    }
    out[s] += beta_ * sum;
  });
}

template void FeatureRows::add_gram<float>(Out<float>, Backend&, const Execution&) const;
template void FeatureRows::add_gram<double>(Out<double>, Backend&, const Execution&) const;
template void FeatureRows::add_forms<float>(std::span<const std::int32_t>, In<float>, std::span<double>,
                                            Backend&, const Execution&) const;
template void FeatureRows::add_forms<double>(std::span<const std::int32_t>, In<double>, std::span<double>,
                                             Backend&, const Execution&) const;

}  // namespace poise
