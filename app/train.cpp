#include "train.hpp"

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/memory.hpp"
#include "poise/io/model_file.hpp"
#include "poise/model/popularity.hpp"

#include "option_values.hpp"
#include "output_check.hpp"

namespace poise::app {

TrainReport train_popularity(const TrainOptions& options, const LoadedDataset& data,
                             const Context& /*context*/) {
  const Stopwatch watch;
  const Popularity model = Popularity::train(data.dataset.train.view());
  const double train = watch.seconds();
  // A count has no objective, nothing to converge and nothing to certify.
  TrainReport report;
  report.json = {{"model", options.model},
                 {"rank", nullptr},
                 {"lambda", nullptr},
                 {"alpha", nullptr},
                 {"weighting", nullptr},
                 {"objective", nullptr},
                 {"observed_weight", nullptr},
                 {"certificate", nullptr},
                 {"iterations", 0},
                 {"rounds", 0},
                 {"converged", true}};
  write_model(options.out,
              {.model = options.model,
               .options = {{"model", options.model}},
               .data_checksum = data.checksum,
               .report = report.json.dump(),
               .items = data.dataset.items},
              model);
  report.seconds = {{"train", train}, {"save", watch.seconds() - train}};
  report.text = fmt::format("popularity over {} users x {} items\n", grouped(data.dataset.train.rows),
                            grouped(data.dataset.train.cols));
  return report;
}

namespace {

void run(const TrainOptions& options, const Context& context) {
  refuse_other_flags(options);
  check_file_can_be_written(options.out);
  if (!options.trace.empty()) check_file_can_be_written(options.trace);
  const Stopwatch watch;
  const LoadedDataset data = read_dataset(options.data, context.execution);
  const double load = watch.seconds();
  const auto train = options.model == "popularity"  ? train_popularity
                     : options.model == "full-rank" ? train_full_rank
                                                    : train_low_rank;
  TrainReport report = train(options, data, context);
  Json seconds = {{"total", watch.seconds()}, {"load", load}};
  seconds.update(report.seconds);
  report.json["seconds"] = seconds;
  report.json["peak_bytes"] = peak_memory();
  context.print(report.json,
                report.text + fmt::format("{:.2f} s in all, of which {:.2f} s loading; {:.2f} GB at most\n",
                                          watch.seconds(), load, static_cast<double>(peak_memory()) * 1e-9));
  context.say(fmt::format("written to {}", options.out.string()));
}

}  // namespace

Run setup_train(CLI::App& parser) {
  auto options = std::make_shared<TrainOptions>();
  parser.add_option("DATA", options->data, "Folder that `poise prepare` wrote")->required();
  parser
      .add_option(
          "--model", options->model,
          "full-rank (the item-item autoencoder; EASE with --zero-diagonal, EDLAE with --dropout too), "
          "awmf (its low-rank form, scores x U V'), wmf (matrix factorization) or popularity")
      ->required()
      ->check(CLI::IsMember({"full-rank", "awmf", "wmf", "popularity"}));
  parser.add_option("--out", options->out, "Model file to write")->required();
  parser.add_option("--lambda", options->lambda, "L2 regularization (default: 100)");
  parser.add_option("--dropout", options->dropout,
                    "p adds p/(1-p) diag(X'X) to the regularization (default: 0)");
  parser.add_flag("--zero-diagonal", options->zero_diagonal, "An item must not predict itself");
  parser
      .add_option(
          "--weighting", options->weighting,
          "constant (default), none, linear, log, user-oriented, item-oriented, inverse-popularity or column")
      ->check(CLI::IsMember({"constant", "none", "linear", "log", "user-oriented", "item-oriented",
                             "inverse-popularity", "column"}));
  parser.add_option("--alpha", options->alpha,
                    "Weight of the observed entries; 1 is unweighted (default: 1)");
  parser.add_option("--epsilon", options->epsilon, "Scale of the values in --weighting log (default: 1)");
  parser.add_option("--gamma", options->gamma, "Exponent of --weighting inverse-popularity (default: 0.5)");
  parser.add_option("--clip", options->clip,
                    "Bound on the factors of the oriented and popularity weights (default: 10)");
  parser
      .add_option("--tolerance", options->tolerance,
                  "Bound on certificate.worst_column; of low-rank models, on their final inner solves "
                  "(default: 1e-6)")
      ->check(positive_number());
  parser
      .add_option("--keep-top", options->keep_top,
                  "Save only the K largest entries of each column, as a sparse model")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{2'147'483'647}));
  parser
      .add_option("--regularizer", options->regularizer,
                  "Of awmf: weight-decay, lambda (|U|^2 + |V|^2) (default); dropout, lambda |U V'|^2; or "
                  "data-weight-decay, lambda (|X U|^2 + |V|^2)")
      ->check(CLI::IsMember({"weight-decay", "dropout", "data-weight-decay"}));
  parser.add_option("--rank", options->rank, "Columns of U and V (default: 100)")
      ->check(whole_number(1, 1'000'000));
  parser
      .add_option("--lambda-exponent", options->lambda_exponent,
                  "Of wmf: regularize users and items by their counts to this power (default: 0)")
      ->check(finite_number());
  parser
      .add_option("--rounds", options->rounds, "Most alternating rounds of a low-rank model (default: 100)")
      ->check(whole_number(0, 1'000'000));
  parser
      .add_option("--start", options->start,
                  "Where they begin: closed-form (the unweighted optimum; default) or random")
      ->check(CLI::IsMember({"closed-form", "random"}));
  parser.add_option("--trace", options->trace,
                    "Csv file to write: round, objective, iterations, seconds of each round");
  parser.footer(
      "Unweighted low-rank models have closed forms, from eigenvectors that are kept beside the data.\n\n"
      "Examples:\n"
      "  poise train ml-20m.data --model full-rank --zero-diagonal --lambda 500 --out ease.model\n"
      "  poise train ml-20m.data --model full-rank --lambda 300 --dropout 0.33 --zero-diagonal --out "
      "edlae.model\n"
      "  poise train ml-20m.data --model full-rank --lambda 500 --alpha 2 --out weighted.model\n"
      "  poise train ml-20m.data --model awmf --rank 100 --regularizer dropout --lambda 50 --alpha 5 --out "
      "awmf.model\n"
      "  poise train ml-20m.data --model wmf --rank 64 --lambda 0.05 --lambda-exponent 1 --alpha 10 --out "
      "wmf.model\n"
      "  poise train ml-20m.data --model popularity --out popularity.model");
  return [options](const Context& context) { run(*options, context); };
}

}  // namespace poise::app
