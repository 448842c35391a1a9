#include "poise/model/full_rank/certify.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/memory.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/model/full_rank/family.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/neighbours/certify.hpp"
#include "poise/train/certificate_json.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/model_file.hpp"
#include "poise/train/parameter_table.hpp"

#include "command.hpp"
#include "device.hpp"
#include "estimate.hpp"
#include "trained_report.hpp"

namespace poise::app {

namespace {

struct CertifyFlags {
  std::filesystem::path model;
  std::filesystem::path data;
};

/// B', from a dense or a sparse model.
Matrix<float> columns_of(const FullRank& model, int threads) {
  const std::int64_t n = model.items();
  Matrix<float> columns(n, n);
  if (const CsrView* const sparse = model.sparse()) {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto items = sparse->row(j);
      const auto values = sparse->row_values(j);
      for (std::size_t e = 0; e < items.size(); ++e) columns(items[e], j) = values[e];
    }
    return columns;
  }
  const Tiling tiling{n, 64};
  for_each_tile(tiling.tiles(), threads, [&](std::int64_t tile) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = tiling.first(tile); i < tiling.last(tile); ++i)
        columns(i, j) = model.dense()(j, i);
    }
  });
  return columns;
}

const FullRank& full_rank_of(const LoadedModel& model, const CertifyFlags& options) {
  if (const auto* const full_rank = model.as<FullRank>()) return *full_rank;
  fail(ErrorKind::input,
       "{} is a {} model; only full-rank models can be certified from the data (`poise info` shows what "
       "training proved of it)",
       options.model.string(), model.info.model);
}

FullRankCheck check_of(const FullRank& model, const ModelParameters& parameters, CsrView X, CsrView features,
                       const Weights& W, Backend& backend, const Context& context) {
  const FullRankOptions options = full_rank_options(parameters, context.memory_limit, features);
  if (parameters.neighbours > 0) {
    if (model.sparse() == nullptr)
      fail(ErrorKind::input, "the model says --neighbours {}, but its B is dense", parameters.neighbours);
    return certify_neighbours(X, W, options, parameters.neighbours, *model.sparse(), context.execution);
  }
  const auto entries = static_cast<double>(X.cols) * static_cast<double>(X.cols);
  refuse_if_too_large({.seconds = 0, .bytes = sizeof(float) * entries}, context,
                      "raise it: B is checked as a dense matrix");
  return certify_full_rank(X, W, options, columns_of(model, context.execution.threads), backend,
                           context.execution);
}

void run_certify(const CertifyFlags& options, const Context& context) {
  std::map<std::string, double> seconds;
  const Stopwatch watch(seconds);
  const LoadedModel model = read_model(options.model, context.execution.threads);
  const FullRank& full_rank = full_rank_of(model, options);
  const ModelParameters parameters = parameters_of(model.info.options);
  if (model.info.options.contains("keep-lambda"))
    fail(ErrorKind::input,
         "{} was updated with --keep-lambda, so its Lambda or weights are of earlier data; the update proved "
         "it (`poise info`), and an update without the flag makes a model that can be certified again",
         options.model.string());
  const LoadedDataset data = read_dataset(options.data, context.execution);
  if (model.info.data_checksum != data.checksum) {
    fail(ErrorKind::input, "{} was trained on other data than {}; certify it on the data it was trained on",
         options.model.string(), options.data.string());
  }
  const CsrView X = data.dataset.train.view();
  const Weights W = weights_of(parameters, data.dataset.training_rows(), context.execution.threads);
  const auto backend = backend_for(
      [&] {
        return work_of(
            training_cost(parameters, {X, data.dataset.features.rows.view()}, context.memory_limit, W));
      },
      context);
  check_device(std::span(&parameters, 1), *backend);
  const FullRankCheck check =
      check_of(full_rank, parameters, X, data.dataset.features.rows.view(), W, *backend, context);

  const bool neighbours = parameters.neighbours > 0;
  const bool kept_whole = neighbours || full_rank.sparse() == nullptr;
  const Json json = {{"model", model.info.model},
                     {"objective", check.objective},
                     {"objective_error", check.objective_error},
                     {"observed_weight", check.observed_weight},
                     {"certificate", to_json(check.certificate, true)},
                     {"converged", check.converged},
                     {"missing_columns", check.missing},
                     {"seconds", {{"total", watch.total()}}},
                     {"peak_bytes", peak_memory()},
                     {"device", backend->name()}};
  const std::string sizes = fmt::format("over {} users x {} items", grouped(X.rows), grouped(X.cols));
  std::string text =
      neighbours
          ? neighbours_text(parameters.neighbours, sizes, check.objective, check.observed_weight,
                            check.certificate)
          : fmt::format("full-rank model {}\n  objective  {:.6g} of {:.6g} observed weight, {}\n", sizes,
                        check.objective, check.observed_weight, certificate_text(check.certificate));
  text += fmt::format("  tolerance  {}: {}\n", parameters.tolerance,
                      check.converged
                          ? "every column is within it"
                          : fmt::format("{} columns are not proven to be within it", grouped(check.missing)));
  if (!kept_whole)
    text += "  kept       only the largest entries of each column: the bound is on what that costs, too\n";
  context.print(json, text + fmt::format("{:.2f} s in all; {:.2f} GB at most\n", watch.total(),
                                         static_cast<double>(peak_memory()) * 1e-9));
  if (!check.converged && kept_whole) {
    fail(ErrorKind::numerical,
         "{}: {} columns are not proven to be within the tolerance {} of their optimum; train it again",
         options.model.string(), grouped(check.missing), parameters.tolerance);
  }
}

}  // namespace

Run setup_certify(CLI::App& parser) {
  auto options = std::make_shared<CertifyFlags>();
  parser.add_option("MODEL", options->model, "Model file of a full-rank model")
      ->required()
      ->type_name("FILE");
  parser.add_option("DATA", options->data, "Folder with the prepared data that it was trained on")
      ->required()
      ->type_name("DIR");
  parser.footer(
      "Nothing that training computed is trusted: the bound is made from the data and the saved\n"
      "matrix, by random probes that cover every column. Exit code 5 where a column is not proven\n"
      "to be within the model's tolerance (never for models of --keep-top, whose bound says what\n"
      "keeping only some entries costs). With --neighbours every column is measured on its\n"
      "neighbours, which are found again in the data, in the time and memory of training.\n\n"
      "Examples:\n"
      "  poise certify ease.model ml-20m.data\n"
      "  poise certify ease.model ml-20m.data --json");
  return [options](const Context& context) { run_certify(*options, context); };
}

}  // namespace poise::app
