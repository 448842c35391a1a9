#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/evaluate/evaluate.hpp"
#include "poise/io/model_file.hpp"
#include "poise/model/full_rank.hpp"
#include "poise/model/full_rank_fit.hpp"
#include "poise/weighting/weighting.hpp"

#include "train.hpp"

namespace poise::app {

namespace {

/// Every option by its flag, as the model file keeps it.
std::map<std::string, std::string> option_texts(const TrainOptions& options,
                                                const WeightingOptions& weighting,
                                                const FullRankOptions& fit) {
  std::map<std::string, std::string> texts = weighting_texts(weighting);
  texts["model"] = options.model;
  texts["lambda"] = fmt::format("{}", fit.lambda);
  texts["dropout"] = fmt::format("{}", fit.dropout);
  texts["zero-diagonal"] = fit.zero_diagonal ? "true" : "false";
  texts["tolerance"] = fmt::format("{}", fit.tolerance);
  if (options.keep_top) texts["keep-top"] = fmt::format("{}", *options.keep_top);
  return texts;
}

void announce(CsrView X, const Weights& W, const FullRankOptions& options, Backend& backend,
              const Context& context) {
  const FullRankMemory memory = full_rank_memory(X.rows, X.cols, !W.uniform(), 1);
  const bool with_T = !W.c.empty() && W.b.empty() && memory.with_T <= options.memory_limit;
  context.say(fmt::format("{} x {} items: about {:.0f} s and {:.1f} GB", grouped(X.cols), grouped(X.cols),
                          full_rank_operations(X, W, options) / product_rate(backend),
                          static_cast<double>(with_T ? memory.with_T : memory.least) * 1e-9));
}

double validation_ndcg(const FullRank& model, const Dataset& dataset, const Execution& execution) {
  const HeldOut& part = *dataset.validation;
  return evaluate(model, dataset.histories(part), part.targets.view(), {},
                  {.metrics = {{MetricKind::ndcg, 100}}}, execution)
      .metrics.front()
      .mean;
}

/// The sparse model of the K largest entries a column, and what that costs. What is known of the whole matrix
/// and the objectives of both bound the sparse one's distance from the minimum.
FullRank sparsify(const FullRank& dense, std::int64_t keep, const Dataset& dataset, const Context& context,
                  const std::function<double(CsrView)>& objective_of, TrainReport& report) {
  FullRank sparse(keep_top(dense.dense(), keep, context.execution.threads));
  Json kept = {{"per_column", keep}, {"entries", sparse.sparse()->entries()}};
  report.text += fmt::format("  kept       {} of {} entries", grouped(sparse.sparse()->entries()),
                             grouped(dense.items() * dense.items()));
  if (dataset.validation && dataset.validation->targets.entries() > 0) {
    const double before = validation_ndcg(dense, dataset, context.execution);
    const double after = validation_ndcg(sparse, dataset, context.execution);
    kept["validation"] = {{"ndcg@100", {{"all", before}, {"kept", after}}}};
    report.text += fmt::format("; validation ndcg@100 {:.4f} instead of {:.4f}", after, before);
  }
  report.text += "\n";
  report.json["kept"] = kept;
  const double objective = objective_of(sparse.sparse()->view());
  const double before = report.json["objective"];
  const double absolute =
      report.json["certificate"]["absolute"].get<double>() + std::max(0.0, objective - before);
  const double explained = report.json["observed_weight"].get<double>() - objective;
  report.json["objective"] = objective;
  report.json["certificate"]["absolute"] = absolute;
  report.json["certificate"]["relative"] = explained > 0 ? Json(absolute / explained) : Json();
  report.json["certificate"]["worst_column"] = nullptr;
  report.text += fmt::format("  its objective {:.6g} instead of {:.6g}\n", objective, before);
  return sparse;
}

}  // namespace

TrainReport train_full_rank(const TrainOptions& options, const LoadedDataset& data, const Context& context) {
  const WeightingOptions weighting = weighting_of(options);
  FullRankOptions fit_options;
  fit_options.lambda = options.lambda.value_or(fit_options.lambda);
  fit_options.dropout = options.dropout.value_or(fit_options.dropout);
  fit_options.unconstrained = !options.zero_diagonal;
  fit_options.zero_diagonal = options.zero_diagonal;
  fit_options.tolerance = options.tolerance.value_or(fit_options.tolerance);
  fit_options.memory_limit = context.memory_limit;
  validate(fit_options);

  const Stopwatch watch;
  const CsrView X = data.dataset.train.view();
  const Weights W = make_weights(X, weighting);
  const auto backend = make_backend(BackendKind::cpu, context.execution.threads, context.execution.observer);
  check_full_rank_memory(X, W, fit_options);
  announce(X, W, fit_options, *backend, context);
  FullRankFit fit = fit_full_rank(X, W, fit_options, *backend, context.execution);
  FullRankSolution& solution = fit.solutions.front();
  const double train = watch.seconds();

  TrainReport report;
  const Certificate& certificate = solution.certificate;
  report.json = {{"model", options.model},
                 {"rank", nullptr},
                 {"zero_diagonal", fit_options.zero_diagonal},
                 {"lambda", fit_options.lambda},
                 {"dropout", fit_options.dropout},
                 {"alpha", weighting.alpha},
                 {"weighting", scheme_name(weighting.scheme)},
                 {"objective", solution.objective},
                 {"observed_weight", solution.observed_weight},
                 {"certificate",
                  {{"absolute", certificate.absolute},
                   {"relative", certificate.relative},
                   {"worst_column", certificate.worst_column},
                   {"sampled", certificate.sampled}}},
                 {"iterations", fit.iterations},
                 {"rounds", 0},
                 {"converged", solution.converged},
                 {"condition", fit.condition},
                 {"precision", fit.float64 ? "float64" : "float32"},
                 {"direct_columns", fit.direct_columns},
                 {"iterated_columns", fit.iterated_columns}};
  report.text = fmt::format(
      "full-rank model over {} users x {} items\n"
      "  objective  {:.6g} of {:.6g} observed weight, proven within {:.1e} of its minimum ({:.1e} for the "
      "worst column{})\n"
      "  solved     {} columns directly, {} in at most {} iterations, {} inverse, condition {:.1e}\n",
      grouped(X.rows), grouped(X.cols), solution.objective, solution.observed_weight, certificate.relative,
      certificate.worst_column, certificate.sampled ? ", of a sample where solved directly" : "",
      grouped(fit.direct_columns), grouped(fit.iterated_columns), fit.iterations,
      fit.float64 ? "float64" : "float32", fit.condition);
  if (!solution.converged) {
    context.say(fmt::format("the tolerance {} was not reached; what was reached is in the certificate",
                            fit_options.tolerance));
  }

  FullRank model(std::move(solution.B));
  if (options.keep_top) {
    const auto objective_of = [&](CsrView B) {
      return full_rank_objective(X, W, fit_options, B, *backend, context.execution);
    };
    model = sparsify(model, *options.keep_top, data.dataset, context, objective_of, report);
  }
  const double before_save = watch.seconds();
  write_model(options.out,
              {.model = options.model,
               .options = option_texts(options, weighting, fit_options),
               .data_checksum = data.checksum,
               .report = report.json.dump(),
               .items = data.dataset.items},
              model);
  report.seconds = {{"train", train}, {"save", watch.seconds() - before_save}};
  for (const auto& [phase, seconds] : fit.seconds) report.seconds[phase] = seconds;
  return report;
}

}  // namespace poise::app
