#include "poise/model/neighbours/gram_row.hpp"

#include <type_traits>

namespace poise {

template <class T>
void GramRow<T>::fill(std::int32_t i) {
  // Users' rows lie all over memory: each is asked for some users ahead.
  constexpr std::size_t ahead = 8;
  const CsrView& X = problem_.X;
  const auto users = problem_.users_of.view().row(i);
  const std::int64_t* const offsets = X.offsets.data();
  const std::int32_t* const ranks = problem_.ranks.data();
  T* const sums = sums_.data();
  steps_ = 0;
  for (std::size_t k = 0; k < users.size(); ++k) {
    if (k + 2 * ahead < users.size()) __builtin_prefetch(offsets + users[k + 2 * ahead]);
    if (k + ahead < users.size()) __builtin_prefetch(ranks + offsets[users[k + ahead]]);
    const std::int32_t u = users[k];
    const std::int64_t last = offsets[u + 1];
    steps_ += last - offsets[u];
    if constexpr (std::is_same_v<T, double>) {
      const double a = problem_.W->a_of(u);
      for (std::int64_t e = offsets[u]; e < last; ++e) sums[ranks[e]] += a;
    } else {
      for (std::int64_t e = offsets[u]; e < last; ++e) ++sums[ranks[e]];
    }
  }
  if constexpr (std::is_same_v<T, double>) fill_features(i);
}

template <class T>
void GramRow<T>::fill_features(std::int32_t i) {
  const FeatureRows& features = problem_.features;
  if (features.empty()) return;
  const CsrView F = features.rows();
  const auto own = features.of_items().row(i);
  for (std::size_t k = 0; k < own.size(); ++k) {
    const double factor = value_of(features.of_items(), i, k);
    const auto items = F.row(own[k]);
    steps_ += std::ssize(items);
    for (std::size_t e = 0; e < items.size(); ++e)  // the product of two floats is exact, and so G symmetric
      sums_[problem_.rank_of[items[e]]] +=
          static_cast<T>(features.beta() * (factor * value_of(F, own[k], e)));
  }
}

template class GramRow<std::uint32_t>;
template class GramRow<double>;

}  // namespace poise
