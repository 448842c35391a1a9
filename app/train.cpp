#include "train.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/base/memory.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/comm/packed.hpp"
#include "poise/linalg/host_csr.hpp"
#include "poise/model/full_rank/dense_parts.hpp"
#include "poise/model/full_rank/spread_full_rank.hpp"
#include "poise/model/low_rank/round_checkpoint.hpp"
#include "poise/model/neighbours/checkpoint.hpp"
#include "poise/storage/atomic_file.hpp"
#include "poise/study/models.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/parameter_table.hpp"
#include "poise/train/update.hpp"
#include "poise/train/validation.hpp"
#include "poise/weighting/weighting.hpp"

#include "device.hpp"
#include "help.hpp"
#include "model_flags.hpp"
#include "option_values.hpp"
#include "output_check.hpp"
#include "process_time.hpp"
#include "product_speed.hpp"
#include "progress.hpp"
#include "ranks.hpp"
#include "train_cost.hpp"
#include "train_together.hpp"
#include "trained_report.hpp"

namespace poise::app {

namespace {

struct TrainOptions {
  std::filesystem::path data;
  std::filesystem::path out;
  ModelFlags flags;
  std::optional<std::int64_t> keep_top;
  bool keep_inverse = false;
  std::filesystem::path trace;
  std::filesystem::path checkpoint;
};

void write_trace(const std::filesystem::path& path, const Trained& trained) {
  std::string text = "round,objective,iterations,seconds\n";
  for (const LowRankRound& round : trained.trace)
    text += fmt::format("{},{},{},{:.3f}\n", round.round, round.objective, round.iterations, round.seconds);
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// Error{usage} where two flags contradict each other.
void refuse_unless(bool fit, std::string_view flag, std::string_view other) {
  if (!fit) fail(ErrorKind::usage, "{} does not go with {}; leave one of them out", flag, other);
}

/// Error{usage} where a flag does not go with the model.
void refuse_contradictions(const TrainOptions& options) {
  const std::string full_rank(family_name(Family::full_rank));
  refuse_unless(!options.keep_top || options.flags.model == full_rank, "--keep-top", options.flags,
                {full_rank});
  refuse_unless(!options.keep_top || !options.flags.has("neighbours"), "--keep-top", "--neighbours");
  refuse_unless(!options.keep_inverse || options.flags.model == full_rank, "--keep-inverse", options.flags,
                {full_rank});
  refuse_unless(!options.keep_inverse || !options.flags.has("neighbours"), "--keep-inverse", "--neighbours");
  refuse_unless(!options.keep_inverse || !options.keep_top, "--keep-inverse", "--keep-top");
  refuse_unless(!options.keep_inverse || options.checkpoint.empty(), "--keep-inverse", "--checkpoint");
  const std::vector<std::string> with_rounds = families_with("rounds");
  const bool has_rounds = std::ranges::find(with_rounds, options.flags.model) != with_rounds.end();
  refuse_unless(options.trace.empty() || has_rounds, "--trace", options.flags, with_rounds);
}

void check_neighbours(const TrainOptions& options, const ModelParameters& parameters,
                      const Context& context) {
  const bool full_rank = parameters.family == Family::full_rank;
  if (!options.checkpoint.empty() && !full_rank && !parameters.low_rank())
    fail(ErrorKind::usage, "--checkpoint is of low-rank and full-rank models; leave it out");
  refuse_unless(
      options.checkpoint.empty() || !full_rank || parse_device(context.device) != DeviceChoice::cuda,
      "--device cuda", "--checkpoint of a full-rank model");
  refuse_unless(parameters.neighbours == 0 || parse_device(context.device) != DeviceChoice::cuda,
                "--device cuda", "--neighbours");
}

/// Error{usage} for data that do not go with the command line; warns of missing values.
void check_data(const TrainOptions& options, const ModelParameters& parameters, const Dataset& dataset,
                const Context& context) {
  if (!family_of(parameters).parameters.empty())
    check_values(parameters.weighting.scheme, !dataset.train.values.empty(), context);
  const bool features = dataset.features.rows.rows > 0;
  const ModelKind* const kind = find_kind(options.flags.short_form);
  if (!features && kind != nullptr &&
      std::ranges::find(kind->axes, "feature-weight", &KindAxis::id) != kind->axes.end())
    fail(ErrorKind::usage,
         "--model {} learns from features of items, and the data have none: prepare them with "
         "--item-features, or give another --model",
         options.flags.short_form);
}

/// Says how large the file beside the model will be.
void say_kept_inverse(std::int64_t items, bool weighted, const std::filesystem::path& model,
                      const Context& context) {
  const auto bytes = [&](bool float64) {
    return amount(static_cast<double>(kept_inverse_bytes(items, weighted, float64)), "B");
  };
  context.say(fmt::format("{} takes {}, or {} if the inverse needs float64",
                          kept_inverse_path(model).string(), bytes(false), bytes(true)));
}

/// A dense full-rank model, with what an update needs.
Trained train_keeping(const ModelParameters& parameters, CsrView X, CsrView features, const Weights& W,
                      Backend& backend, const Context& context, std::optional<KeptInverse>& kept) {
  TrainedToUpdate result =
      train_keeping_inverse(parameters, X, features, W, context.memory_limit, backend, context.execution);
  kept = std::move(result.kept);
  return std::move(result.trained);
}

/// The phases of the whole command, in order, then the phases within them.
Json phases_json(double total, const std::map<std::string, double>& seconds, const WriteSeconds& written,
                 const std::map<std::string, double>& training) {
  Json phases = {{"total", total}};
  for (const char* phase : {"start", "load", "weights", "estimate", "device", "train", "report", "save"})
    phases[phase] = seconds.at(phase);
  phases["save write"] = written.write;
  phases["save sync"] = written.sync;
  for (const auto& [phase, time] : training) phases[phase] = time;
  return phases;
}

void remove_checkpoint(const std::filesystem::path& folder, const ModelParameters& parameters) {
  if (parameters.low_rank()) return RoundCheckpoint::remove(folder);
  parameters.neighbours > 0 ? NeighbourCheckpoint::remove(folder) : DenseParts::remove(folder);
}

/// Whether this process trains, and the places that it will write to. `shared`: all processes do;
/// `on_gpus`: each of them may on a GPU.
bool takes_part(const TrainOptions& options, bool shared, bool on_gpus, const Context& context) {
  const Processes& processes = *context.processes;
  refuse_unless(
      !shared || on_gpus || !processes.several() || parse_device(context.device) != DeviceChoice::cuda,
      "--device cuda", "more than one process that train such a model together");
  if (!shared && processes.several())
    context.say(fmt::format("note: the first of the {} processes trains this model; the others wait",
                            processes.size()));
  if (!processes.first()) return shared;
  check_file_can_be_written(options.out);
  if (!options.trace.empty()) check_file_can_be_written(options.trace);
  return true;
}

/// The peak memory of each process, to the first one; not with neighbours, where that one still takes columns
/// from anybody when others are done.
std::vector<std::uint64_t> gather_peaks(Processes& processes) {
  std::vector<std::uint64_t> peaks;
  for (const std::string& each : processes.gather(bytes_of(std::vector{peak_memory()})))
    peaks.push_back(values_of<std::uint64_t>(each).front());
  return peaks;
}

/// The model, and beside it the inverse that an update needs.
WriteSeconds save(const TrainOptions& options, const Scorer& model,
                  const std::map<std::string, std::string>& texts, const LoadedDataset& data,
                  const std::optional<KeptInverse>& kept, Json& report, int threads) {
  std::optional<StagedInverse> staged;
  if (kept) {
    staged.emplace(options.out, *kept, threads);
    report[kept_inverse_key] = staged->checksum();
  }
  const WriteSeconds written = save_model(options.out, model, texts, data, report, threads);
  if (staged) staged->publish();
  return written;
}

/// Says and reports what was trained; keeps the largest entries alone where that is asked for.
TrainReport report_on(Trained& trained, const TrainOptions& options, const ModelParameters& parameters,
                      const LoadedDataset& data, CsrView X, const Weights& W,
                      std::map<std::string, std::string>& texts, Backend& backend, const Context& context) {
  if (trained.resumed_columns > 0)
    context.say(fmt::format("{} columns were in {} already", grouped(trained.resumed_columns),
                            options.checkpoint.string()));
  warn_about(parameters, trained, context);
  if (!options.trace.empty()) write_trace(options.trace, trained);
  TrainReport report{trained_json(parameters, trained), trained_text(parameters, trained, X)};
  if (const auto ndcg = reported_ndcg(parameters, *trained.model, data.dataset, context.execution)) {
    report.json["validation"] = {{"ndcg@100", *ndcg}};
    report.text += fmt::format("  ranks      validation ndcg@100 {:.4f}\n", *ndcg);
  }
  if (options.keep_top) {
    texts["keep-top"] = fmt::format("{}", *options.keep_top);
    trained.model = std::make_shared<FullRank>(
        sparsify(*trained.model, *options.keep_top, data, X, parameters, W, backend, context, report));
  }
  return report;
}

void run_train(TrainOptions options, const Context& context) {
  std::map<std::string, double> seconds = {{"start", seconds_since_start()}};
  Stopwatch watch(seconds);
  expand_short_form(options.flags, Usual::middle);
  refuse_other_flags(options.flags);
  refuse_contradictions(options);
  const ModelParameters parameters = parameters_of(options.flags, context);
  const bool counts_only = family_of(parameters).parameters.empty();
  check_neighbours(options, parameters, context);
  Processes& processes = *context.processes;
  refuse_unless(!options.keep_inverse || !processes.several(), "--keep-inverse", "more than one process");
  const bool shared = is_shared(parameters, processes);
  const bool spread_out = shared && parameters.family == Family::full_rank && parameters.neighbours == 0;
  if (!takes_part(options, shared, spread_out, context)) return;
  double rate = 0;
  // A dense model whose parts are saved as they are finished is trained on the processor.
  const bool in_parts = !options.checkpoint.empty() && !parameters.low_rank();
  EarlyGpu early =
      early_gpu_for(in_parts ? 0 : least_operations(parameters, options.data), CudaReady::to_train, context,
                    [&](Backend& gpu) { rate = product_rate(gpu); });
  LoadedDataset data = read_dataset(options.data, context.execution);
  if (shared) check_same_data(options.data.string(), data.checksum, context);
  watch.book("load");
  check_data(options, parameters, data.dataset, context);
  const int threads = context.execution.threads;
  std::optional<HostCsr> once;
  if (shared && processes.several()) once.emplace(std::exchange(data.dataset.train, {})).hold_once(processes);
  const CsrView X = once ? once->view() : data.dataset.train.view();
  const Weights W = weights_of(parameters, {X, data.dataset.disliked.view()}, threads);
  watch.book("weights");
  const CsrView features = data.dataset.features.rows.view();
  TrainingCost cost = training_cost(parameters, {X, features}, context.memory_limit, W, threads);
  if (spread_out) cost = cost_of_each(cost, X, W, processes);
  if (in_parts) cost.gpu = false;
  watch.book("estimate");
  const auto backend = backend_for([&] { return work_of(cost); }, context, std::move(early));
  if (!counts_only) {
    if (!spread_out) check_memory_or_suggest(parameters, {X, features}, W, cost, *backend, context);
    announce(*backend, parameters, X, cost, rate, context);
  }
  if (options.keep_inverse) say_kept_inverse(X.cols, !W.c.empty() || !W.b.empty(), options.out, context);
  watch.book("device");

  const std::uint64_t before = peak_memory();
  std::optional<KeptInverse> kept;
  Trained trained = options.keep_inverse ? train_keeping(parameters, X, features, W, *backend, context, kept)
                                         : train_together(parameters, data, X, W, options.data,
                                                          options.checkpoint, *backend, context);
  const auto spread = std::dynamic_pointer_cast<const SpreadFullRank>(trained.model);
  const bool in_step = once && parameters.neighbours == 0;
  if (!processes.first()) {
    if (spread) spread->serve(threads);
    if (in_step) static_cast<void>(gather_peaks(processes));
    return;
  }
  watch.book("train");
  if (once) data.dataset.train = copy_of(X);
  std::map<std::string, std::string> texts = option_texts(parameters);
  TrainReport report = report_on(trained, options, parameters, data, X, W, texts, *backend, context);
  watch.book("report");
  const WriteSeconds written = save(options, *trained.model, texts, data, kept, report.json, threads);
  if (!options.checkpoint.empty()) remove_checkpoint(options.checkpoint, parameters);
  if (spread) spread->release();
  watch.book("save");

  const double total = seconds.at("start") + watch.total();
  put_parameters(report.json, parameters, Reported::all);
  report.json["seconds"] = phases_json(total, seconds, written, trained.seconds);
  report.json["peak_bytes"] = peak_memory();
  report.json["bytes_before_training"] = before;
  if (in_step) report.json["peak_bytes_of_ranks"] = gather_peaks(processes);
  report.json["expected_bytes"] = static_cast<std::uint64_t>(cost.bytes);
  report.json["device"] = backend->name();
  context.print(
      report.json,
      report.text + fmt::format("{:.2f} s in all, of which {:.2f} s loading; {:.2f} GB at most\n", total,
                                seconds.at("load"), static_cast<double>(peak_memory()) * 1e-9));
  context.say(fmt::format("written to {}", options.out.string()));
  end_after_gpu(backend.get(), context);
}

}  // namespace

Run setup_train(CLI::App& parser) {
  auto options = std::make_shared<TrainOptions>();
  parser.add_option("DATA", options->data, "Folder that `poise prepare` wrote")->required()->type_name("DIR");
  parser.add_option("--out", options->out, "Model file to write")->required()->type_name("FILE");
  add_model_flags(parser, options->flags, FlagValues::one);
  parser
      .add_option("--keep-top", options->keep_top,
                  "For full-rank: save only the K largest entries of each column, as a sparse model")
      ->check(whole_number(1, 2'147'483'647));
  parser.add_flag("--keep-inverse", options->keep_inverse,
                  "For full-rank: write OUT.inverse beside the model, from which `poise update` goes on");
  parser
      .add_option(
          "--checkpoint", options->checkpoint,
          "For low-rank and full-rank models: folder for rounds, or the inverse and columns, as they are "
          "finished; the same command, after it was interrupted or killed, goes on from there")
      ->type_name("DIR");
  parser
      .add_option("--trace", options->trace,
                  "For awmf and wmf: csv file to write: round, objective, iterations, seconds of each round")
      ->type_name("FILE");
  put_into_group(parser, "Full rank", {"--keep-top", "--keep-inverse"});
  put_into_group(parser, "Files", {"--checkpoint", "--trace"});
  parser.footer(
      "Unweighted low-rank models have closed forms, from eigenvectors that are stored beside the data.\n\n"
      "Examples:\n"
      "  poise train ml-20m.data --model ease --lambda 500 --out ease.model\n"
      "  poise train ml-20m.data --model edlae --lambda 300 --dropout 0.33 --out edlae.model\n"
      "  poise train ml-20m.data --model ease --lambda 500 --lambda-exponent 0.5 --out ease-nu.model\n"
      "  poise train shop.data --model ease --lambda 200 --keep-inverse --out shop.model\n"
      "  poise train shop.data --model ease --lambda 200 --neighbours 100 --out million.model\n"
      "  poise train ml-20m.data --model full-rank --lambda 500 --alpha 2 --out weighted.model\n"
      "  poise train ml-20m.data --model dropout --rank 100 --lambda 50 --alpha 5 --out dropout.model\n"
      "  poise train ml-20m.data --model wmf --rank 64 --lambda 0.05 --alpha 10 --out wmf.model\n"
      "  poise train ml-20m.data --model popularity --out popularity.model");
  return [options](const Context& context) { run_train(*options, context); };
}

}  // namespace poise::app
