#include "train.hpp"

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/memory.hpp"
#include "poise/io/model_file.hpp"
#include "poise/model/popularity.hpp"

#include "output_check.hpp"

namespace poise::app {

TrainReport train_popularity(const TrainOptions& options, const LoadedDataset& data,
                             const Context& /*context*/) {
  const auto refuse = [](bool given, const char* flag) {
    if (given) fail(ErrorKind::usage, "{} does not go with --model popularity, which only counts", flag);
  };
  refuse(options.lambda.has_value(), "--lambda");
  refuse(options.dropout.has_value(), "--dropout");
  refuse(options.zero_diagonal, "--zero-diagonal");
  refuse(options.weighting.has_value(), "--weighting");
  refuse(options.alpha.has_value(), "--alpha");
  refuse(options.keep_top.has_value(), "--keep-top");
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
  check_file_can_be_written(options.out);
  const Stopwatch watch;
  const LoadedDataset data = read_dataset(options.data, context.execution);
  const double load = watch.seconds();
  TrainReport report = options.model == "popularity" ? train_popularity(options, data, context)
                                                     : train_full_rank(options, data, context);
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
          "full-rank (the item-item autoencoder; EASE with --zero-diagonal, EDLAE with --dropout too) or "
          "popularity")
      ->required()
      ->check(CLI::IsMember({"full-rank", "popularity"}));
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
  parser.add_option("--tolerance", options->tolerance, "Bound on certificate.worst_column (default: 1e-6)");
  parser
      .add_option("--keep-top", options->keep_top,
                  "Save only the K largest entries of each column, as a sparse model")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{2'147'483'647}));
  parser.footer(
      "Examples:\n"
      "  poise train ml-20m.data --model full-rank --zero-diagonal --lambda 500 --out ease.model\n"
      "  poise train ml-20m.data --model full-rank --lambda 300 --dropout 0.33 --zero-diagonal --out "
      "edlae.model\n"
      "  poise train ml-20m.data --model full-rank --lambda 500 --alpha 2 --out weighted.model\n"
      "  poise train ml-20m.data --model popularity --out popularity.model");
  return [options](const Context& context) { run(*options, context); };
}

}  // namespace poise::app
