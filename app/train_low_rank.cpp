#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/io/atomic_file.hpp"
#include "poise/io/model_file.hpp"
#include "poise/io/spectrum_cache.hpp"
#include "poise/model/asymmetric_fit.hpp"
#include "poise/model/left_factor.hpp"
#include "poise/model/wmf_fit.hpp"

#include "estimate.hpp"
#include "progress.hpp"
#include "train.hpp"

namespace poise::app {

namespace {

/// What the flags say about either model.
struct Request {
  LowRankOptions fit;
  WeightingOptions weighting;
  Regularizer regularizer = Regularizer::weight_decay;
  double lambda_exponent = 0;
  bool wmf = false;

  [[nodiscard]] AsymmetricOptions asymmetric() const {
    AsymmetricOptions options;
    static_cast<LowRankOptions&>(options) = fit;
    options.regularizer = regularizer;
    return options;
  }
  [[nodiscard]] WmfOptions matrix_factorization() const {
    WmfOptions options;
    static_cast<LowRankOptions&>(options) = fit;
    options.lambda_exponent = lambda_exponent;
    // In the linear and log schemes alpha is a slope, not the weight of an entry.
    const bool slope = weighting.scheme == Scheme::linear || weighting.scheme == Scheme::log;
    options.alpha = slope ? 1 : weighting.alpha;
    return options;
  }
};

Request request_of(const TrainOptions& options, const Context& context) {
  Request request;
  request.wmf = options.model == "wmf";
  request.weighting = weighting_of(options);
  if (options.regularizer) request.regularizer = parse_regularizer(*options.regularizer);
  request.lambda_exponent = options.lambda_exponent.value_or(0);
  LowRankOptions& fit = request.fit;
  fit.rank = options.rank.value_or(fit.rank);
  fit.lambda = options.lambda.value_or(fit.lambda);
  fit.rounds = options.rounds.value_or(fit.rounds);
  fit.tolerance = options.tolerance.value_or(fit.tolerance);
  fit.start = options.start.value_or("closed-form") == "random" ? Start::random : Start::closed_form;
  fit.seed = context.seed;
  fit.memory_limit = context.memory_limit;
  if (!std::isfinite(fit.lambda) || fit.lambda < 0)
    fail(ErrorKind::usage, "--lambda {} is out of range: a number of at least 0 is needed", fit.lambda);
  return request;
}

std::map<std::string, std::string> option_texts(const TrainOptions& options, const Request& request) {
  std::map<std::string, std::string> texts = weighting_texts(request.weighting);
  texts["model"] = options.model;
  texts["rank"] = fmt::format("{}", request.fit.rank);
  texts["lambda"] = fmt::format("{}", request.fit.lambda);
  texts["rounds"] = fmt::format("{}", request.fit.rounds);
  texts["tolerance"] = fmt::format("{}", request.fit.tolerance);
  texts["start"] = request.fit.start == Start::random ? "random" : "closed-form";
  if (request.fit.start == Start::random) texts["seed"] = fmt::format("{}", request.fit.seed);
  if (request.wmf) {
    texts["lambda-exponent"] = fmt::format("{}", request.lambda_exponent);
  } else {
    texts["regularizer"] = std::string(regularizer_name(request.regularizer));
  }
  return texts;
}

/// Refuses what cannot fit, and says how long it may take, both before any work.
void announce(const Request& request, CsrView X, const Weights& W, Backend& backend, const Context& context) {
  const bool from_spectrum = request.fit.start == Start::closed_form || !request.wmf;
  const auto d = static_cast<double>(std::min(request.fit.rank, X.cols));
  const auto n = static_cast<double>(X.cols);
  const std::int64_t pairs = spectrum_step(request.fit.rank, X.cols);
  const SpectrumCost spectrum = from_spectrum ? spectrum_cost(X, pairs) : SpectrumCost{};
  const bool rounds = !W.uniform() || request.lambda_exponent != 0 || request.fit.start == Start::random;
  const std::int64_t rank = std::min(request.fit.rank, X.cols);
  std::uint64_t held =
      (request.wmf ? wmf_memory(X.rows, X.cols, X.entries(), rank) : asymmetric_memory(X, rank)) +
      (from_spectrum ? 4 * static_cast<std::uint64_t>(X.cols * pairs) : 0);
  if (rounds && !request.wmf)
    held += left_factor_memory(X, W, request.regularizer,
                               context.memory_limit - std::min(held, context.memory_limit));
  const double bytes = std::max(spectrum.bytes, static_cast<double>(held));
  refuse_if_too_large({.seconds = 0, .bytes = bytes}, context,
                      "a lower --rank would fit, or raise --memory-limit");

  // Gathered operations count as ten; inner solves take some three iterations.
  const double entries = (request.wmf ? 240 : 300) * static_cast<double>(X.entries()) * d;
  const double dense = 10 * static_cast<double>(X.rows) * d * d + (request.wmf ? 0 : 6 * n * n * d);
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

void write_trace(const std::filesystem::path& path, const LowRankFit& fit) {
  std::string text = "round,objective,iterations,seconds\n";
  for (const LowRankRound& round : fit.trace)
    text += fmt::format("{},{},{},{:.3f}\n", round.round, round.objective, round.iterations, round.seconds);
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

Json report_json(const TrainOptions& options, const Request& request, const LowRankFit& fit) {
  Json json = {{"model", options.model}, {"rank", request.fit.rank}};
  if (request.wmf) {
    json["lambda_exponent"] = request.lambda_exponent;
  } else {
    json["regularizer"] = regularizer_name(request.regularizer);
  }
  json.update({{"lambda", request.fit.lambda},
               {"alpha", request.weighting.alpha},
               {"weighting", scheme_name(request.weighting.scheme)},
               {"objective", fit.objective},
               {"observed_weight", fit.observed_weight},
               {"certificate",
                {{"absolute", fit.certificate.absolute},
                 {"relative", fit.certificate.relative},
                 {"sampled", fit.certificate.sampled}}},
               {"iterations", fit.iterations},
               {"rounds", fit.rounds},
               {"converged", fit.converged},
               {"live_directions", fit.live_directions}});
  return json;
}

std::string report_text(const TrainOptions& options, const Request& request, const LowRankFit& fit,
                        CsrView X) {
  std::string text = fmt::format(
      "{} model of rank {} over {} users x {} items\n"
      "  objective  {:.6g} of {:.6g} observed weight; re-solving either factor alone would gain at most "
      "{:.1e} "
      "of what is explained\n",
      options.model, request.fit.rank, grouped(X.rows), grouped(X.cols), fit.objective, fit.observed_weight,
      fit.certificate.relative);
  if (fit.rounds == 0) {
    text += "  solved     in closed form, the global optimum\n";
  } else {
    text += fmt::format("  solved     in {} round{}, inner solves of at most {} iteration{}\n", fit.rounds,
                        fit.rounds == 1 ? "" : "s", fit.iterations, fit.iterations == 1 ? "" : "s");
  }
  if (fit.live_directions < request.fit.rank)
    text += fmt::format("  alive      {} of {} directions\n", fit.live_directions, request.fit.rank);
  return text;
}

}  // namespace

TrainReport train_low_rank(const TrainOptions& options, const LoadedDataset& data, const Context& context) {
  const Request request = request_of(options, context);
  const Stopwatch watch;
  const CsrView X = data.dataset.train.view();
  const Weights W = make_weights(X, request.weighting);
  const auto backend = make_backend(BackendKind::cpu, context.execution.threads, context.execution.observer);

  announce(request, X, W, *backend, context);
  Spectrum spectrum;
  // The asymmetric models also precondition with it, whatever they start from.
  if (request.fit.start == Start::closed_form || !request.wmf)
    spectrum = cached_spectrum(options.data, data.checksum, X, request.fit.rank, *backend, context.execution);
  const double eigenpairs = watch.seconds();
  LowRankFit fit = request.wmf
                       ? fit_wmf(X, W, request.matrix_factorization(), spectrum, *backend, context.execution)
                       : fit_asymmetric(X, W, request.asymmetric(), spectrum, *backend, context.execution);
  const double train = watch.seconds();
  if (fit.live_directions == 0) {
    context.say(
        fmt::format("--lambda {} leaves no direction alive: every score is 0, and items rank by their order; "
                    "lower --lambda",
                    request.fit.lambda));
  } else if (!fit.converged) {
    context.say(fmt::format("the objective still fell after {} rounds; raise --rounds to go on", fit.rounds));
  }
  if (!options.trace.empty()) write_trace(options.trace, fit);

  TrainReport report;
  report.json = report_json(options, request, fit);
  report.text = report_text(options, request, fit, X);
  const ModelInfo info = {.model = options.model,
                          .options = option_texts(options, request),
                          .data_checksum = data.checksum,
                          .report = report.json.dump(),
                          .items = data.dataset.items};
  const double before_save = watch.seconds();
  if (request.wmf) {
    write_model(options.out, info,
                Wmf(std::move(fit.V), {.weighting = request.weighting,
                                       .lambda = request.matrix_factorization().regularization(),
                                       .users = X.rows,
                                       .item_users = column_counts(X)}));
  } else {
    write_model(options.out, info, Asymmetric(std::move(fit.U), std::move(fit.V)));
  }
  report.seconds = {{"train", train}, {"eigenpairs", eigenpairs}, {"save", watch.seconds() - before_save}};
  for (const auto& [phase, seconds] : fit.seconds) report.seconds[phase] = seconds;
  return report;
}

}  // namespace poise::app
