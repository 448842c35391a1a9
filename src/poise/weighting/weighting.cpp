#include "poise/weighting/weighting.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/base/suggest.hpp"
#include "poise/weighting/correction.hpp"
#include "poise/weighting/fold_in.hpp"

namespace poise {
namespace {

/// In the order of Scheme.
constexpr std::array<std::string_view, 8> scheme_names = {
    "none", "constant", "linear", "log", "user-oriented", "item-oriented", "inverse-popularity", "column"};

/// Options beyond it leave no room for their products in float32.
constexpr double largest_option = 1e30;

void check_range(std::string_view flag, double value, double least) {
  if (!(value >= least && value <= largest_option))
    fail(ErrorKind::usage, "{} must be a number from {} to {}, not {}", flag, least, largest_option, value);
}

bool is_slope(Scheme scheme) { return scheme == Scheme::linear || scheme == Scheme::log; }

void check_factors(std::string_view name, std::span<const float> factors, std::int64_t count) {
  if (factors.empty()) return;
  if (std::ssize(factors) != count)
    fail(ErrorKind::input, "the weights' {} has {} factors where {} are needed", name, factors.size(), count);
  for (std::int64_t k = 0; k < count; ++k) {
    if (!(factors[k] > 0 && std::isfinite(factors[k])))
      fail(ErrorKind::input, "the weights' {} must be positive and finite, but {}[{}] is {}", name, name, k,
           factors[k]);
  }
}

}  // namespace

Scheme parse_scheme(std::string_view name) {
  for (std::size_t k = 0; k < scheme_names.size(); ++k) {
    if (scheme_names[k] == name) return static_cast<Scheme>(k);
  }
  fail(ErrorKind::usage, "--weighting must be one of {}, not '{}'{}", fmt::join(scheme_names, ", "), name,
       did_you_mean(name, scheme_names));
}

std::string_view scheme_name(Scheme scheme) { return scheme_names[static_cast<std::size_t>(scheme)]; }

void validate(const WeightingOptions& options) {
  if (options.scheme == Scheme::none) {
    if (options.alpha != 1)
      fail(ErrorKind::usage,
           "--weighting none takes no --alpha other than 1, not {}: use --weighting constant", options.alpha);
  } else {
    check_range("--alpha", options.alpha, is_slope(options.scheme) ? 0 : 0.001);
  }
  if (!(options.epsilon > 0 && options.epsilon <= largest_option))
    fail(ErrorKind::usage, "--epsilon must be a number above 0 and up to {}, not {}", largest_option,
         options.epsilon);
  check_range("--gamma", options.gamma, 0);
  check_range("--clip", options.clip, 1);
}

bool reads_values(Scheme scheme) { return is_slope(scheme) || scheme == Scheme::column; }

void check_values(Scheme scheme, bool has_values) {
  if (scheme == Scheme::column && !has_values)
    fail(
        ErrorKind::input,
        "--weighting column takes each entry's value as its weight, and the data have no values: prepare "
        "them from a log with a value column (`poise prepare --columns USER,ITEM,VALUE`), or use --weighting "
        "constant");
}

Weights make_weights(CsrView X, const WeightingOptions& options, int threads) {
  check_values(options.scheme, !X.values.empty() || X.entries() == 0);
  return FoldInWeighting(X, options, threads).weights(X, threads);
}

Weights weights_on_support(CsrView X, CsrView support, std::span<const float> a, std::span<const float> b) {
  if (X.rows != support.rows || X.cols != support.cols)
    fail(ErrorKind::input, "the weights are {} x {} but the data is {} x {}: give them the same shape",
         support.rows, support.cols, X.rows, X.cols);
  check_factors("a", a, X.rows);
  check_factors("b", b, X.cols);
  Weights result;
  result.support = support;
  result.a.assign(a.begin(), a.end());
  result.b.assign(b.begin(), b.end());
  leave_out_ones(result.a);
  leave_out_ones(result.b);
  for (std::int64_t u = 0; u < X.rows; ++u) {
    const double a_u = result.a_of(u);
    double of_user = 0;
    std::int64_t next = X.offsets[u];
    const std::int64_t end = X.offsets[u + 1];
    for (std::int64_t k = support.offsets[u]; k < support.offsets[u + 1]; ++k) {
      const std::int32_t item = support.indices[k];
      const float w = support.values.empty() ? 1 : support.values[k];
      if (!(w > 0 && std::isfinite(w)))
        fail(ErrorKind::input,
             "weights must be positive and finite, but row {}, item {} (both counted from 0) has {}", u, item,
             w);
      set_weight(result, u, k, w);
      for (; next < end && X.indices[next] < item; ++next) of_user += a_u * result.b_of(X.indices[next]);
      if (next < end && X.indices[next] == item) {
        of_user += w;
        ++next;
      }
    }
    for (; next < end; ++next) of_user += a_u * result.b_of(X.indices[next]);
    result.observed += of_user;
  }
  return result;
}

}  // namespace poise
