#include "poise/evaluate/evaluate.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "poise/base/csv.hpp"
#include "poise/base/error.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/storage/atomic_file.hpp"
#include "poise/train/model_file.hpp"

#include "command.hpp"
#include "device.hpp"
#include "option_values.hpp"
#include "output_check.hpp"
#include "process_time.hpp"
#include "ranks.hpp"

namespace poise::app {

namespace {

struct EvaluateFlags {
  std::filesystem::path model;
  std::filesystem::path data;
  std::string on = "test";
  std::string metrics = "recall@20,recall@50,ndcg@100";
  std::string denominator = "min";
  std::filesystem::path per_user;
  double dislike_share = 0;
};

const HeldOut& part_of(const Dataset& dataset, const EvaluateFlags& options) {
  const std::optional<HeldOut>& part = options.on == "test" ? dataset.test : dataset.validation;
  if (!part) {
    fail(ErrorKind::input,
         "{} has no {} part; prepare it with --split users, or give the file with --split given",
         options.data.string(), options.on);
  }
  return *part;
}

/// Only the part that is measured, unless a metric needs the training matrix.
EvaluationData read_data(const EvaluateFlags& options, std::span<const Metric> metrics,
                         const Context& context) {
  if (training_need(metrics) != TrainingNeed::rows)
    return read_evaluation_data(options.data, options.on, context.execution);
  LoadedDataset whole = read_dataset(options.data, context.execution);
  std::vector<std::int64_t> counts = column_counts(whole.dataset.train.view(), context.execution.threads);
  return {.dataset = std::move(whole.dataset),
          .training_counts = std::move(counts),
          .checksum = std::move(whole.checksum)};
}

void write_per_user(const std::filesystem::path& path, const EvaluationResult& result, const Ids& users) {
  AtomicFile file(path);
  std::string text = "user";
  for (const Metric& metric : result.per_user_metrics) text += "," + to_string(metric);
  text += "\n";
  for (std::int64_t k = 0; k < result.users; ++k) {
    text += csv_field(users[result.user_rows[k]]);
    for (const double value : result.per_user.row(k)) text += fmt::format(",{}", value);
    text += "\n";
  }
  file.write(text);
  file.commit();
}

/// Operations of scoring with a dense matrix of items x items, from the files' headers; 0 for any other
/// model.
double expected_operations(const EvaluateFlags& options) {
  if (!built_with_cuda()) return 0;
  const DatasetSizes sizes = dataset_sizes(options.data);
  const auto histories = sizes.history_bytes.find(options.on);
  std::error_code ignored;
  const auto items = static_cast<double>(sizes.items);
  const bool dense =
      static_cast<double>(std::filesystem::file_size(options.model, ignored)) >= 4 * items * items;
  return dense && !ignored && histories != sizes.history_bytes.end()
             ? 8 * static_cast<double>(histories->second) * items
             : 0;
}

void run_evaluate(const EvaluateFlags& options, const Context& context) {
  std::map<std::string, double> phases = {{"start", seconds_since_start()}};
  Stopwatch watch(phases);
  EvaluateOptions evaluation{
      .metrics = parse_metrics(options.metrics),
      .denominator = options.denominator == "min" ? RecallDenominator::min : RecallDenominator::targets};
  const bool first = context.processes->first();
  if (first && !options.per_user.empty()) check_file_can_be_written(options.per_user);
  EarlyGpu early = early_gpu_for(expected_operations(options), CudaReady::to_score, context);
  const LoadedModel model = read_model(options.model, context.execution.threads);
  watch.book("load model");
  const EvaluationData data = read_data(options, evaluation.metrics, context);
  watch.book("load data");
  check_same_data(options.model.string(), model.checksum, context);
  check_same_data(options.data.string(), data.checksum, context);
  const Dataset& dataset = data.dataset;
  if (model.info.items != dataset.items) {
    fail(ErrorKind::input,
         "{} was trained on other items than those of {}; evaluate it on the data it was trained on",
         options.model.string(), options.data.string());
  }
  const bool same_data = model.info.data_checksum == data.checksum;
  if (!same_data) {
    context.say(fmt::format(
        "note: {} was trained on other data than {}: held-out users may have been among its training users",
        options.model.string(), options.data.string()));
  }
  const HeldOut& part = part_of(dataset, options);
  evaluation.cold_items = dataset.split == SplitKind::cold_items;
  UserRows histories = dataset.histories(part);
  histories.dislike_share = options.dislike_share;
  note_without_dislikes(options.dislike_share, histories, context);
  const auto backend =
      scoring_backend_for([&] { return Work{.operations = model.scorer->operations(histories.items)}; },
                          context, std::move(early));
  watch.book("device");
  Evaluation measuring(*model.scorer, histories, part.targets.view(),
                       {data.training_counts, dataset.train.view()}, evaluation, context.execution,
                       backend.get());
  measuring.measure_together(*context.processes);
  if (!first) return;
  const EvaluationResult result = measuring.finish();
  check_findable(result);
  if (result.known_targets > 0)
    context.say(fmt::format("note: {} targets are in their users' histories or disliked, and cannot be found",
                            grouped(result.known_targets)));
  watch.book("evaluate");
  const double seconds = phases.at("evaluate");
  if (!options.per_user.empty()) write_per_user(options.per_user, result, part.users);

  watch.book("report");
  phases["total"] = phases.at("start") + watch.total();
  Json metrics;
  std::string text =
      fmt::format("{} users of the {} part ({} more have no target), {:.2f} s\n", grouped(result.users),
                  options.on, grouped(result.users_without_targets), seconds);
  for (const MetricResult& metric : result.metrics) {
    const std::string name = to_string(metric.metric);
    metrics[name] = {{"mean", metric.mean},
                     {"stderr", metric.standard_error ? Json(*metric.standard_error) : Json()}};
    text += fmt::format("  {:<22} {:.6f}", name, metric.mean);
    text += metric.standard_error ? fmt::format("  +- {:.6f}\n", *metric.standard_error) : "\n";
  }
  context.print({{"users", result.users},
                 {"users_without_targets", result.users_without_targets},
                 {"known_targets", result.known_targets},
                 {"metrics", metrics},
                 {"same_data", same_data},
                 {"device", backend ? backend->name() : to_string(BackendKind::cpu)},
                 {"seconds", seconds},
                 {"phases", phases}},
                text);
  end_after_gpu(backend.get(), context);
}

}  // namespace

Run setup_evaluate(CLI::App& parser) {
  auto options = std::make_shared<EvaluateFlags>();
  parser.add_option("MODEL", options->model, "Model file")->required()->type_name("FILE");
  parser.add_option("DATA", options->data, "Folder that `poise prepare` wrote")->required()->type_name("DIR");
  parser.add_option("--on", options->on, "Part of the data: test or validation")
      ->check(one_of({"test", "validation"}))
      ->capture_default_str();
  parser
      .add_option(
          "--metrics", options->metrics,
          "What is measured, e.g. recall@20,auc,coverage@20;\naccuracy: recall, ndcg, precision, map, "
          "hit-rate, "
          "mrr, stratified-recall, each @R, and auc; what is shown: coverage, gini, entropy, popularity, "
          "tail-share, novelty, diversity, calibration, each @R")
      ->capture_default_str();
  parser
      .add_option("--recall-denominator", options->denominator,
                  "Recall divides by min(R, targets), or by all targets,\nas papers on given splits do")
      ->check(one_of({"min", "targets"}))
      ->capture_default_str();
  add_dislike_share_option(parser, options->dislike_share);
  parser.add_option("--per-user", options->per_user, "Also write every user's metrics to this csv file")
      ->type_name("FILE");
  parser.footer(
      "Examples:\n"
      "  poise evaluate popularity.model ml-20m.data\n"
      "  poise evaluate ease.model gowalla.data --metrics ndcg@20 --recall-denominator targets --json\n"
      "  poise evaluate ease.model ml-20m.data --metrics ndcg@100,auc,coverage@20,novelty@20,diversity@20");
  return [options](const Context& context) { run_evaluate(*options, context); };
}

}  // namespace poise::app
