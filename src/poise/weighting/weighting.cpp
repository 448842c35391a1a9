#include "poise/weighting/weighting.hpp"

#include <cmath>
#include <cstdint>

#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/base/suggest.hpp"
#include "poise/weighting/correction.hpp"
#include "poise/weighting/fold_in.hpp"

namespace poise {
namespace {

/// Products of larger options would not fit float32.
constexpr double largest_option = 1e30;

void check_range(ParameterName name, double value, double least) {
  if (!(value >= least && value <= largest_option))
    fail(ErrorKind::usage, "{} must be a number from {} to {}, not {}", name, least, largest_option, value);
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const SchemeTraits& scheme : schemes()) names.push_back(scheme.name);
  return names;
}

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

const std::vector<SchemeTraits>& schemes() {
  static const std::vector<SchemeTraits> all = {
      {"none", "1", ReadsValues::no, false, 1},
      {"constant", "alpha; 1 is unweighted", ReadsValues::no, false, 1},
      {"linear", "1 + alpha r", ReadsValues::if_any, true, 0},
      {"log", "1 + alpha log(1 + r / epsilon)", ReadsValues::if_any, true, 0},
      {"user-oriented", "alpha; the user's other entries by the user's number of items, bounded by clip"},
      {"item-oriented", "alpha; the item's other entries by the number of users without it, bounded by clip"},
      {"inverse-popularity", "alpha (users of the item / most)^-gamma, bounded by clip"},
      {"column", "alpha r", ReadsValues::always}};
  return all;
}

const SchemeTraits& traits(Scheme scheme) { return schemes()[static_cast<std::size_t>(scheme)]; }

std::vector<DeclaredParameter<WeightingOptions>> weighting_parameters() {
  return {
      {{.id = "alpha", .help = "Weight of the observed entries; 1 is unweighted", .axis = SearchAxis::listed},
       in_member(&WeightingOptions::alpha)},
      {{.id = "weighting",
        .help = "Weighting of the observed entries",
        .names = scheme_names(),
        .axis = SearchAxis::listed},
       in_member(&WeightingOptions::scheme)},
      {{.id = "gamma",
        .help = fmt::format("Exponent of {} inverse-popularity", "weighting"_p),
        .axis = SearchAxis::free},
       in_member(&WeightingOptions::gamma)},
      {{.id = "epsilon", .help = fmt::format("Scale of the values in {} log", "weighting"_p)},
       in_member(&WeightingOptions::epsilon)},
      {{.id = "clip", .help = "Bound on the factors of the oriented and popularity weights"},
       in_member(&WeightingOptions::clip)},
      {{.id = "alpha-negative",
        .help = "Weight of disliked entries, relative to what is neither liked nor disliked; 1 ignores them",
        .least = 0,
        .above_least = true,
        .axis = SearchAxis::free},
       in_member(&WeightingOptions::alpha_negative)}};
}

Scheme parse_scheme(std::string_view name) {
  return static_cast<Scheme>(place_of(name, "weighting"_p, scheme_names()));
}

std::string_view scheme_name(Scheme scheme) { return traits(scheme).name; }

void validate(const WeightingOptions& options) {
  if (options.scheme == Scheme::none) {
    if (options.alpha != 1)
      fail(ErrorKind::usage, "{} none takes no {} other than 1, not {}: use {} constant", "weighting"_p,
           "alpha"_p, options.alpha, "weighting"_p);
  } else {
    check_range("alpha"_p, options.alpha, traits(options.scheme).slope ? 0 : 0.001);
  }
  if (!(options.epsilon > 0 && options.epsilon <= largest_option))
    fail(ErrorKind::usage, "{} must be a number above 0 and up to {}, not {}", "epsilon"_p, largest_option,
         options.epsilon);
  check_range("gamma"_p, options.gamma, 0);
  check_range("clip"_p, options.clip, 1);
  check_range("alpha-negative"_p, options.alpha_negative, 0.001);
}

bool reads_values(Scheme scheme) { return traits(scheme).values != ReadsValues::no; }

void check_values(Scheme scheme, bool has_values) {
  if (traits(scheme).values == ReadsValues::always && !has_values)
    fail(ErrorKind::input,
         "{} column takes each entry's value as its weight, and the data have no values: prepare them from a "
         "log with a value column (`poise prepare --columns USER,ITEM,VALUE`), or use {} constant",
         "weighting"_p, "weighting"_p);
}

void check_dislikes(const WeightingOptions& options, bool has_dislikes) {
  if (options.alpha_negative != 1 && !has_dislikes)
    fail(ErrorKind::usage,
         "{} {} weighs dislikes, and the data have none: prepare them with {}, or leave {} out",
         "alpha-negative"_p, options.alpha_negative, "dislike-below"_p, "alpha-negative"_p);
}

Weights make_weights(const UserRows& X, const WeightingOptions& options, int threads) {
  check_values(options.scheme, !X.items.values.empty() || X.items.entries() == 0);
  check_dislikes(options, X.any_disliked());
  return FoldInWeighting(X.items, options, threads).weights(X, threads);
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
