#include "poise/model/spectrum/spectrum.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "poise/backend/resident.hpp"
#include "poise/model/spectrum/routes.hpp"
#include "poise/model/spectrum/sliced_gram.hpp"

namespace poise {
namespace {

/// Q in float32 with its signs fixed, so that they depend on no route: of the entries that are largest in
/// size, the first is positive. Eigenvalues that are 0 within rounding become 0.
Spectrum canonical(EigenPairs pairs) {
  Spectrum spectrum{std::move(pairs.s), Matrix<float>(pairs.Q.rows(), pairs.Q.cols())};
  const std::int64_t n = spectrum.Q.rows();
  const std::int64_t count = spectrum.Q.cols();
  std::vector<float> largest(count, 0.0F);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < count; ++k) {
      const auto entry = static_cast<float>(pairs.Q(i, k));
      spectrum.Q(i, k) = entry;
      if (std::abs(entry) > std::abs(largest[k])) largest[k] = entry;
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < count; ++k) {
      if (largest[k] < 0) spectrum.Q(i, k) = -spectrum.Q(i, k);
    }
  }
  const double scale = spectrum.s.empty() ? 0 : spectrum.s.front();
  const double rounding = scale * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  for (double& s : spectrum.s) s = s > rounding ? s : 0;
  return spectrum;
}

/// Up to this many items a GPU decomposes all of G.
constexpr std::int64_t device_items = 24'000;

struct RouteCost : SpectrumCost {
  bool krylov = false;
};

/// The cheaper route. Operations are counted as so many of a float32 matrix product as take their time: a
/// gathered one 10 to 12, one of projecting on a basis in float64 5, of a QR factorization 60 and of an
/// eigendecomposition 4, the last two on one thread. Growing spaces have their pairs found several times,
/// which adds up to 3.5 times the last.
RouteCost cheaper_route(CsrView X, std::int64_t count) {
  const auto n = static_cast<double>(X.cols);
  const auto k = static_cast<double>(krylov_size(X.cols, count));
  const auto entries = static_cast<double>(X.entries());
  const double eigenpairs = 35;
  const double result = 12 * n * static_cast<double>(count);
  double gram = 0;
  for (std::int64_t u = 0; u < X.rows; ++u) {
    const auto size = static_cast<double>(X.row_size(u));
    gram += size * size;
  }
  // LAPACK works in twice the matrix beside it.
  const RouteCost dense{{10 * gram + eigenpairs * n * n * n, 8 * 3 * n * n + result}, false};
  const RouteCost krylov{{50 * entries * k + 20 * n * k * k + 8000 * n * k + 3.5 * eigenpairs * k * k * k,
                          8 * (n * k + 5 * k * k) + sliced_gram_bytes(X, 48) + result},
                         true};
  return krylov.operations < dense.operations ? krylov : dense;
}

}  // namespace

EigenPairs dense_top_pairs(CsrView X, std::span<const float> row_weights, std::int64_t count,
                           Backend& backend, const Execution& execution) {
  Resident<double> G(backend, X.cols, X.cols);
  backend.gram(X, row_weights, G.view());
  stop_if_asked(execution.observer);
  return backend.symmetric_eigenpairs(G.view(), count);
}

SpectrumCost spectrum_cost(CsrView X, std::int64_t count) {
  return static_cast<const SpectrumCost&>(cheaper_route(X, std::min(count, X.cols)));
}

Spectrum top_spectrum(CsrView X, std::span<const float> row_weights, std::int64_t count, Backend& backend,
                      const Execution& execution) {
  assert(count >= 0);
  assert(row_weights.empty() || static_cast<std::int64_t>(row_weights.size()) == X.rows);
  count = std::min(count, X.cols);
  // On a GPU the dense decomposition is fast, and the other route's many small steps are not.
  const bool dense =
      backend.traits().cheap_gathers ? !cheaper_route(X, count).krylov : X.cols <= device_items;
  const auto pairs = dense ? dense_top_pairs : krylov_top_pairs;
  return canonical(pairs(X, row_weights, count, backend, execution));
}

}  // namespace poise
