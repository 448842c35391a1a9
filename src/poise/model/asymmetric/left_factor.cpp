#include "poise/model/asymmetric/left_factor.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "poise/base/bytes.hpp"
#include "poise/base/error.hpp"
#include "poise/linalg/precision.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/solver/small_products.hpp"

namespace poise {
namespace {

constexpr std::int64_t eigen_items = 2048;
constexpr std::int64_t singular_eigen_items = 4096;
/// Below, what is made of items x items takes no time.
constexpr std::int64_t fewest_items = 512;
/// The root of the condition up to which U in float32 is solved as well with few pairs as with all. With
/// weight decay nu is above 1 where V is large.
constexpr double most_root_with_dropout = 30;
constexpr double most_root_with_weight_decay = 12;

enum class Route { all_eigenpairs, inverse, top_eigenpairs };

/// Whether M is a Kronecker product, so that an inverse is exact.
bool exact_by_inverse(const Weights& W, Regularizer regularizer) {
  if (regularizer == Regularizer::data_weight_decay) return W.a.empty();
  return regularizer == Regularizer::dropout && W.b.empty();
}

/// The trace of G.
double trace_of(CsrView X, std::span<const float> a) {
  if (a.empty()) return static_cast<double>(X.entries());
  double sum = 0;
  for (std::int64_t u = 0; u < X.rows; ++u)
    sum += static_cast<double>(a[u]) * static_cast<double>(X.row(u).size());
  return sum;
}

/// How many times as many iterations U takes where all but the top eigenvalues count as 0: the root of the
/// condition that is left, 1 + s_k / lambda. k s_k is at most the trace, and about a quarter of it on real
/// data.
double growth_of_iterations(CsrView X, const Weights& W, double lambda, std::int64_t pairs) {
  return std::sqrt(1 + trace_of(X, W.a) / (4 * static_cast<double>(pairs) * lambda));
}

/// Whether the top eigenpairs take fewer operations than `others` per iteration and column, and suffice in
/// float32: what it rounds counts 1 + s_k / lambda times in the certificate, with weights of either kind.
bool few_pairs_do(CsrView X, const Weights& W, Regularizer regularizer, double lambda, std::int64_t pairs,
                  double others) {
  if (regularizer == Regularizer::data_weight_decay || X.cols < fewest_items || pairs == 0 || !(lambda > 0))
    return false;
  const double growth = growth_of_iterations(X, W, lambda, pairs);
  const double root = growth * std::sqrt(W.highest / W.lowest);
  return root <=
             (regularizer == Regularizer::dropout ? most_root_with_dropout : most_root_with_weight_decay) &&
         growth * 8 * static_cast<double>(X.cols * pairs) <= others;
}

Route first_route(CsrView X, const Weights& W, Regularizer regularizer, double lambda, std::int64_t pairs,
                  std::uint64_t bytes) {
  const auto n = static_cast<std::uint64_t>(X.cols);
  const bool by_all = !exact_by_inverse(W, regularizer) && X.cols <= eigen_items && 24 * n * n <= bytes;
  if (few_pairs_do(X, W, regularizer, lambda, pairs, static_cast<double>((by_all ? 4 : 2) * n * n)))
    return Route::top_eigenpairs;
  if (by_all) return Route::all_eigenpairs;
  return 4 * n * n <= bytes ? Route::inverse : Route::top_eigenpairs;
}

class LeftFactorMaker {
 public:
  LeftFactorMaker(CsrView X, const Weights& W, Regularizer regularizer, double lambda, Backend& backend,
                  const Execution& execution)
      : X_(X),
        W_(W),
        regularizer_(regularizer),
        data_metric_(regularizer == Regularizer::data_weight_decay),
        lambda_(lambda),
        kappa_(data_metric_ ? lowest_a() : mean_b()),
        backend_(backend),
        execution_(execution) {}

  [[nodiscard]] LeftFactor make(const Spectrum& spectrum, std::uint64_t bytes) const {
    const auto n = static_cast<std::uint64_t>(X_.cols);
    const Route route = first_route(X_, W_, regularizer_, lambda_, spectrum.pairs(), bytes);
    if (route == Route::all_eigenpairs) return by_eigenpairs();
    LeftFactor left;
    left.kappa = kappa_;
    if (route == Route::inverse) {
      if (invert(left.inverse, 0)) return left;
      left.inverse = {};
      if (8 * n * n <= bytes && invert(left.inverse64, 0)) return left;
      left.inverse64 = {};
      if (X_.cols <= singular_eigen_items && 24 * n * n <= bytes) return by_eigenpairs();
      if (8 * n * n <= bytes && invert(left.inverse64, 2 * range_cut_off)) return left;
    }
    if (data_metric_ || lambda_ <= 0) {
      const auto [needed, left_over] =
          compared_bytes(static_cast<double>(8 * n * n), static_cast<double>(bytes));
      fail(ErrorKind::resources,
           "this regularizer needs a matrix of items x items in float64, {}, and {} leaves {} for it; raise "
           "the limit, or use another {}",
           needed, "memory-limit"_p, left_over, "regularizer"_p);
    }
    return left_factor_of(
        W_.a.empty() ? spectrum : top_spectrum(X_, W_.a, spectrum.pairs(), backend_, execution_), backend_);
  }

 private:
  [[nodiscard]] double lowest_a() const {
    return W_.a.empty() ? 1.0 : static_cast<double>(std::ranges::min(W_.a));
  }
  [[nodiscard]] double mean_b() const {
    double sum = 0;
    for (const float b : W_.b) sum += std::log(static_cast<double>(b));
    return W_.b.empty() ? 1.0 : std::exp(sum / static_cast<double>(W_.b.size()));
  }
  [[nodiscard]] std::span<const float> row_weights() const {
    return data_metric_ ? std::span<const float>() : std::span<const float>(W_.a);
  }

  /// A^-1, A shifted by `shift` of its largest row sum; false if this precision does not suffice.
  template <class T>
  bool invert(Resident<T>& inverse, double shift) const {
    const std::int64_t n = X_.cols;
    inverse = Resident<T>(backend_, n, n);
    backend_.gram(X_, row_weights(), inverse.view());
    stop_if_asked(execution_.observer);
    double largest = 0;
    if (shift > 0) {
      const Matrix<T> sums = times(Op::none, readable(inverse), Matrix<T>(n, 1, T{1}), backend_);
      for (std::int64_t i = 0; i < n; ++i) largest = std::max<double>(largest, sums(i, 0));
    }
    const std::vector<std::int32_t> own = numbers_from(0, n);
    std::vector<double> diagonal(n);
    backend_.get_entries(std::as_const(inverse).view(), {}, own, diagonal);
    for (double& entry : diagonal) entry += shift * largest + (data_metric_ ? 0 : lambda_ / kappa_);
    backend_.set_entries(inverse.view(), own, diagonal);
    const SpdInverse outcome = backend_.invert_spd(inverse.view());
    const double highest = std::is_same_v<T, float> ? float32_condition
                           : data_metric_           ? 2 / range_cut_off
                                                    : float64_condition;
    return outcome.positive_definite && outcome.condition <= highest;
  }

  /// G Q = K Q diag(s), Q'K Q = I, all of them or those of K's range.
  [[nodiscard]] LeftFactor by_eigenpairs() const {
    const std::int64_t n = X_.cols;
    EigenPairs pairs;
    {
      Resident<double> gram(backend_, n, n);
      backend_.gram(X_, row_weights(), gram.view());
      pairs = backend_.symmetric_eigenpairs(gram.view(), n);
    }
    stop_if_asked(execution_.observer);
    const double lowest = range_cut_off * pairs.s[0];
    const bool cut = data_metric_ || lambda_ * float64_condition < pairs.s[0];
    std::int64_t kept = 0;
    while (kept < n && (!cut || pairs.s[kept] > lowest)) ++kept;
    LeftFactor left;
    left.complete = true;
    left.kappa = kappa_;
    for (std::int64_t k = 0; k < kept; ++k) left.s.push_back(std::max(0.0, pairs.s[k]));
    if (!data_metric_) {
      left.Q = rounded(Lent(backend_, pairs.Q).view(), kept);
      return left;
    }
    Matrix<double> white(n, kept);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t k = 0; k < kept; ++k) white(i, k) = pairs.Q(i, k) / std::sqrt(pairs.s[k]);
    }
    const Resident<double> whitened(backend_, std::move(white));
    pairs = {};
    if (W_.a.empty()) {
      std::ranges::fill(left.s, 1.0);
      left.Q = rounded(whitened.view(), kept);
      return left;
    }
    Resident<double> gram(backend_, n, n);
    backend_.gram(X_, W_.a, gram.view());
    Resident<double> product(backend_, n, kept);
    backend_.gemm(Op::none, Op::none, 1.0, gram.view(), whitened.view(), 0.0, product.view());
    gram = Resident<double>(backend_, kept, kept);
    backend_.gemm(Op::transpose, Op::none, 1.0, whitened.view(), product.view(), 0.0, gram.view());
    pairs = backend_.symmetric_eigenpairs(gram.view(), kept);
    backend_.gemm(Op::none, Op::none, 1.0, whitened.view(), Lent(backend_, pairs.Q).view(), 0.0,
                  product.view());
    left.s = std::move(pairs.s);
    left.Q = rounded(product.view(), kept);
    return left;
  }

  /// The first columns in float32.
  [[nodiscard]] Resident<float> rounded(In<double> wide, std::int64_t columns) const {
    Resident<float> result(backend_, wide.rows, columns);
    backend_.copy(wide.columns(0, columns), result.view());
    return result;
  }

  CsrView X_;
  const Weights& W_;
  Regularizer regularizer_;
  bool data_metric_;
  double lambda_;
  double kappa_;
  Backend& backend_;
  const Execution& execution_;
};

}  // namespace

LeftFactor make_left_factor(CsrView X, const Weights& W, Regularizer regularizer, double lambda,
                            const Spectrum& spectrum, std::uint64_t bytes, Backend& backend,
                            const Execution& execution) {
  return LeftFactorMaker(X, W, regularizer, lambda, backend, execution).make(spectrum, bytes);
}

const LeftFactor& LeftFactorCache::get(CsrView X, const Weights& W, Regularizer regularizer, double lambda,
                                       const Spectrum& spectrum, std::uint64_t bytes, Backend& backend,
                                       const Execution& execution) {
  // Routes ask for at most six of them.
  const auto matrix = std::max<std::uint64_t>(1, 4 * static_cast<std::uint64_t>(X.cols * X.cols));
  const bool top_pairs =
      first_route(X, W, regularizer, lambda, spectrum.pairs(), bytes) == Route::top_eigenpairs;
  const Key key{.X = support_fingerprint(X),
                .a = W.a,
                .b = W.b,
                .regularizer = regularizer,
                .top_pairs = top_pairs,
                // K = G0 with data/weight decay, and the top pairs are those of G.
                .lambda = top_pairs || regularizer == Regularizer::data_weight_decay ? 0 : lambda,
                .matrices = static_cast<std::int64_t>(std::min<std::uint64_t>(6, bytes / matrix)),
                .pairs = spectrum.pairs()};
  if (key == key_) return left_;
  key_ = {};
  left_ = {};
  left_ = make_left_factor(X, W, regularizer, lambda, spectrum, bytes, backend, execution);
  key_ = key;
  return left_;
}

LeftFactorCost left_factor_cost(CsrView X, const Weights& W, Regularizer regularizer, double lambda,
                                std::int64_t pairs, std::uint64_t bytes) {
  const auto n = static_cast<std::uint64_t>(X.cols);
  const auto k = static_cast<std::uint64_t>(pairs);
  const auto square = static_cast<double>(n * n);
  switch (first_route(X, W, regularizer, lambda, pairs, bytes)) {
    case Route::all_eigenpairs:
      return {24 * n * n, 4 * square};
    case Route::inverse:
      if (regularizer != Regularizer::data_weight_decay) return {4 * n * n, 2 * square};
      // G0 = X'X is beyond float32, and singular where there are fewer users than items.
      return {std::min(bytes, (X.rows < X.cols && X.cols <= singular_eigen_items ? 24 : 8) * n * n),
              2 * square};
    case Route::top_eigenpairs:
      // Data/weight decay cannot use them: it is refused before the eigenpairs are computed.
      if (regularizer == Regularizer::data_weight_decay) return {8 * n * n, 0};
      break;
  }
  const double growth = lambda > 0 && pairs > 0 ? growth_of_iterations(X, W, lambda, pairs) : 1;
  return {4 * n * k, growth * 8 * static_cast<double>(n * k)};
}

LeftFactor left_factor_of(const Spectrum& spectrum, Backend& backend) {
  LeftFactor left;
  left.Q = Resident<float>(backend, spectrum.Q.view());
  left.s = spectrum.s;
  left.complete = spectrum.pairs() == spectrum.Q.rows();
  return left;
}

}  // namespace poise
