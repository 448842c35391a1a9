#include <algorithm>

#include <fmt/format.h>

#include "poise/io/spectrum_cache.hpp"
#include "poise/model/asymmetric_fit.hpp"
#include "poise/model/left_factor.hpp"
#include "poise/model/wmf_fit.hpp"
#include "poise/train/product_rate.hpp"

#include "estimate.hpp"
#include "progress.hpp"
#include "train.hpp"

namespace poise::app {

namespace {

bool is_wmf(const ModelParameters& parameters) { return parameters.family == Family::wmf; }

}  // namespace

void announce_low_rank(const ModelParameters& parameters, CsrView X, Backend& backend,
                       const Context& context) {
  const bool from_spectrum = parameters.start == Start::closed_form || !is_wmf(parameters);
  const auto d = static_cast<double>(std::min(parameters.rank, X.cols));
  const auto n = static_cast<double>(X.cols);
  const std::int64_t pairs = spectrum_step(parameters.rank, X.cols);
  const SpectrumCost spectrum = from_spectrum ? spectrum_cost(X, pairs) : SpectrumCost{};
  const bool rounds =
      !parameters.unweighted() || parameters.lambda_exponent != 0 || parameters.start == Start::random;
  const std::int64_t rank = std::min(parameters.rank, X.cols);
  std::uint64_t held =
      (is_wmf(parameters) ? wmf_memory(X.rows, X.cols, X.entries(), rank) : asymmetric_memory(X, rank)) +
      (from_spectrum ? 4 * static_cast<std::uint64_t>(X.cols * pairs) : 0);
  if (rounds && !is_wmf(parameters))
    held += left_factor_memory(X, make_weights(X, parameters.weighting), parameters.regularizer,
                               context.memory_limit - std::min(held, context.memory_limit));
  const double bytes = std::max(spectrum.bytes, static_cast<double>(held));
  refuse_if_too_large({.seconds = 0, .bytes = bytes}, context,
                      "a lower --rank would fit, or raise --memory-limit");

  // Gathered operations count as ten; inner solves take some three iterations.
  const double entries = (is_wmf(parameters) ? 240 : 300) * static_cast<double>(X.entries()) * d;
  const double dense = 10 * static_cast<double>(X.rows) * d * d + (is_wmf(parameters) ? 0 : 6 * n * n * d);
  const double rate = product_rate(backend);
  const double seconds = spectrum.operations / rate;
  const double round = rounds ? (entries + dense) / rate : 0;
  if (seconds + 20 * round < 2) return;
  std::string text = "expected: ";
  if (from_spectrum)
    text += fmt::format("about {} for eigenvectors, unless they are kept; ", duration(seconds));
  if (rounds) text += fmt::format("about {} a round; ", duration(round));
  context.say(text + fmt::format("{} of memory", amount(bytes, "B")));
}

}  // namespace poise::app
