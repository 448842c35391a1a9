#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/memory.hpp"
#include "poise/base/stopwatch.hpp"
#include "poise/data/dataset_bytes.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/data/log_reader.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/parameter_table.hpp"
#include "poise/train/update_model.hpp"

#include "command.hpp"
#include "dataset_report.hpp"
#include "device.hpp"
#include "help.hpp"
#include "input_files.hpp"
#include "log_flags.hpp"
#include "option_values.hpp"
#include "output_check.hpp"
#include "progress.hpp"
#include "trained_report.hpp"

namespace poise::app {

namespace {

namespace fs = std::filesystem;

struct UpdateFlags {
  fs::path model;
  fs::path data;
  std::vector<fs::path> logs;
  fs::path remove;
  fs::path item_features;
  fs::path out;
  fs::path out_data;
  LogFlags log;
  bool keep_lambda = false;
  bool refit = false;
};

Interactions read_new_rows(const UpdateFlags& options, const Context& context) {
  const LogOptions reading = options.log.options(options.logs);
  Interactions log = read_log(options.logs, reading, context.execution);
  context.say(fmt::format("{} read as {}", shown_inputs(options.logs), with_names(log.reading, flag_name)));
  if (log.rows() == 0)
    fail(ErrorKind::input,
         "{} has no row to add: {} are below the threshold, {} have an empty id, {} are bad",
         shown_inputs(options.logs), log.below_threshold, log.empty_ids, log.skipped_lines);
  return log;
}

Interactions read_rows_to_remove(const fs::path& path, const Execution& execution) {
  LogOptions reading;
  reading.format = LogFormat::pairs;
  Interactions log = read_log({path}, reading, execution);
  if (log.rows() == 0) fail(ErrorKind::input, "{} has no row to remove", path.string());
  return log;
}

Merged merge_logs(const UpdateFlags& options, const LoadedDataset& data, const Context& context) {
  std::optional<Interactions> log;
  std::optional<Interactions> removed;
  if (!options.logs.empty()) log = read_new_rows(options, context);
  if (!options.remove.empty()) removed = read_rows_to_remove(options.remove, context.execution);
  std::optional<FeatureTable> features;
  if (!options.item_features.empty())
    features =
        read_further_features(options.item_features, data.dataset.features.names, options.log.skip_bad_lines);
  return merge(data.dataset, log ? &*log : nullptr, removed ? &*removed : nullptr, context.execution,
               features ? &*features : nullptr);
}

std::string merge_text(const MergeCounts& counts) {
  std::string text =
      fmt::format("{} interactions added, {} removed: {} new users, {} changed, {} new items\n",
                  grouped(counts.added), grouped(counts.removed), grouped(counts.new_users),
                  grouped(counts.changed_users), grouped(counts.new_items));
  const auto count = [&](std::int64_t number, std::string_view what) {
    if (number > 0) text += fmt::format("  {:>12} {}\n", grouped(number), what);
  };
  count(counts.known, "were in the data already");
  count(counts.duplicates, "rows of the log repeat others");
  count(counts.held_out, "rows left out: they are of held-out users, or targets");
  count(counts.not_there, "rows to remove were not there");
  count(counts.described_items, "items got features");
  count(counts.described_before, "items of --item-features had features before, and keep them");
  count(counts.unknown_features,
        "features of such items left out: the data lack them (prepare the whole log again to take them in)");
  return text;
}

/// Writes the model, what a further update needs, and the data: all beside their places first, so that a
/// full disk leaves everything as it was.
class Outputs {
 public:
  Outputs(const UpdateFlags& options, const Context& context)
      : out_(options.out), out_data_(options.out_data), context_(context) {
    std::error_code ignored;
    if (fs::is_symlink(out_, ignored)) {
      const fs::path target = fs::canonical(out_, ignored);
      if (!target.empty()) out_ = target;
    }
    next_ = out_;
    next_ += ".next";
  }
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;
  ~Outputs() {
    std::error_code ignored;
    fs::remove(next_, ignored);
  }

  void check() const {
    check_file_can_be_written(next_);
    if (!out_data_.empty()) check_folder_can_be_written(out_data_);
  }

  /// Records the checksum of the inverse in the report.
  void write(const Updated& updated, const std::map<std::string, std::string>& texts, Dataset merged,
             Json& report) {
    const int threads = context_.execution.threads;
    std::optional<StagedInverse> staged;
    if (updated.kept) {
      staged.emplace(out_, *updated.kept, threads);
      report[kept_inverse_key] = staged->checksum();
    }
    const std::vector<std::byte> bytes = encode_dataset(merged, context_.execution);
    const std::string checksum = Container::parse(bytes, "the merged data", threads).checksum();
    static_cast<void>(save_model(next_, *updated.trained.model, texts, {std::move(merged), checksum}, report,
                                 threads, true));
    if (!out_data_.empty()) write_dataset_bytes(out_data_, bytes, context_.execution);
    std::error_code error;
    fs::rename(next_, out_, error);
    if (error) fail_on_file(ErrorKind::resources, "cannot write {}: {}", out_.string(), error.message());
    if (staged) staged->publish();
  }

 private:
  fs::path out_;
  fs::path out_data_;
  fs::path next_;
  const Context& context_;
};

/// The model, and its inverse in the file beside it, which is read when it is needed.
EarlierModel earlier_model(const LoadedModel& model, const fs::path& path, int threads) {
  EarlierModel earlier{model.info, *model.scorer};
  const Json report = Json::parse(model.info.report);
  if (report.contains(kept_inverse_key)) {
    earlier.kept = [&model, path, threads, checksum = report.at(kept_inverse_key).get<std::string>()] {
      return read_kept_inverse(path, checksum, model.info.items.size(), threads);
    };
  }
  return earlier;
}

void check_flags(const UpdateFlags& options, const CLI::App& parser) {
  if (options.logs.empty() && options.remove.empty() && options.item_features.empty())
    fail(ErrorKind::usage, "nothing to update: give --log FILE, --remove FILE or --item-features FILE");
  for (const char* const flag :
       {"--format", "--columns", "--delimiter", "--header", "--keep-above", "--query", "--skip-bad-lines"}) {
    if (!options.logs.empty() || parser.count(flag) == 0) continue;
    if (flag == std::string_view("--skip-bad-lines") && !options.item_features.empty()) continue;
    fail(ErrorKind::usage, "{} says how to read --log, which is not given", flag);
  }
  options.log.check();
}

/// What the user should know of the way it was done.
void say_how(const Updated& updated, const ModelParameters& parameters, const UpdateFlags& options,
             const Context& context) {
  if (!updated.refitted.empty() && updated.refitted.find("trained again") == std::string::npos)
    context.say(fmt::format("trained again: {}", with_names(updated.refitted, flag_name)));
  if (updated.lambda_kept)
    context.say(fmt::format(
        "--keep-lambda: what depends on counts ({}) stays that of the last training, and the certificate is "
        "of that objective",
        with_names(counted_parameter(parameters), flag_name)));
  if (options.keep_lambda && !updated.lambda_kept)
    context.say(
        "--keep-lambda has no effect here: the model was trained again, or nothing in it depends on counts");
  if (updated.lambda_kept && updated.operations >= updated.refit_operations)
    context.say("a training would have taken fewer operations than so many rows");
  if (updated.warm)
    context.say(
        fmt::format("{} rounds from the factors of the earlier model; a training (--refit) may end at other "
                    "factors, whose "
                    "objective may be lower or higher",
                    updated.trained.rounds));
  if (parameters.neighbours > 0 && updated.refitted.empty())
    context.say(fmt::format("{} of {} columns were solved again; nothing changed in the others",
                            grouped(updated.trained.direct_columns - updated.kept_columns),
                            grouped(updated.trained.direct_columns)));
  if (options.out_data.empty())
    context.say(
        "the merged data are not written (--out-data DIR); without them the model cannot be measured, "
        "certified or updated again");
}

void run_update(UpdateFlags options, const CLI::App& parser, const Context& context) {
  std::map<std::string, double> seconds;
  Stopwatch watch(seconds);
  check_flags(options, parser);
  options.logs = matching_files(options.logs);
  if (options.out.empty()) options.out = options.model;
  Outputs outputs(options, context);
  outputs.check();
  const int threads = context.execution.threads;
  const LoadedModel model = read_model(options.model, threads);
  const EarlierModel earlier = earlier_model(model, options.model, threads);
  const ModelParameters parameters = earlier.parameters();
  check_can_be_updated(earlier);
  const LoadedDataset data = read_dataset(options.data, context.execution);
  if (model.info.data_checksum != data.checksum)
    fail(ErrorKind::input, "{} was trained on other data than {}; give the data that it was trained on",
         options.model.string(), options.data.string());
  watch.book("load");
  Merged merged = merge_logs(options, data, context);
  watch.book("merge");
  const CsrView X = merged.dataset.train.view();
  const TrainingInput on(X, merged.dataset.features.rows.view());
  const auto backend = backend_for(
      [&] { return work_of(training_cost(parameters, on, context.memory_limit, weights_of(parameters, X))); },
      context);
  const UpdateOptions how{
      .keep_lambda = options.keep_lambda, .refit = options.refit, .memory_limit = context.memory_limit};
  if (const std::string again = why_trained_again(earlier, merged, how); !again.empty())
    context.say(with_names(again, flag_name) + " trained again on the merged data");
  const Updated updated = update_model(earlier, data.dataset, merged, how, *backend, context.execution);
  watch.book("update");
  say_how(updated, parameters, options, context);
  warn_about(parameters, updated.trained, context);

  Json report = updated_report(earlier, parameters, updated);
  const std::string text = merge_text(merged.counts) + trained_text(parameters, updated.trained, X);
  const MergeCounts counts = merged.counts;
  outputs.write(updated, updated_options(parameters, updated), std::move(merged.dataset), report);
  watch.book("save");

  put_parameters(report, parameters, Reported::all);
  report["update"] = update_json(counts, updated, flag_name);
  Json phases = {{"total", watch.total()}};
  for (const auto& [phase, time] : seconds) phases[phase] = time;
  for (const auto& [phase, time] : updated.trained.seconds) phases[phase] = time;
  report["seconds"] = phases;
  report["peak_bytes"] = peak_memory();
  report["device"] = backend->name();
  context.print(report, text + fmt::format("{:.2f} s in all; {:.2f} GB at most\n", watch.total(),
                                           static_cast<double>(peak_memory()) * 1e-9));
  context.say(fmt::format("written to {}{}", options.out.string(),
                          options.out_data.empty() ? "" : " and " + options.out_data.string()));
  end_after_gpu(backend.get(), context);
}

}  // namespace

Run setup_update(CLI::App& parser) {
  auto options = std::make_shared<UpdateFlags>();
  parser.add_option("MODEL", options->model, "Model file")->required()->type_name("FILE");
  parser.add_option("DATA", options->data, "Folder with the prepared data that it was trained on")
      ->required()
      ->type_name("DIR");
  parser.add_option("--log", options->logs, "Logs with the new rows, as for `poise prepare`")
      ->type_name("FILE");
  parser.add_option("--remove", options->remove, "Rows to take out: user and item in each line")
      ->type_name("FILE");
  parser
      .add_option("--item-features", options->item_features,
                  "Features of items that have none so far, as for `poise prepare`; those that the data know "
                  "are taken")
      ->type_name("FILE");
  parser.add_option("--out", options->out, "Model file to write (default: MODEL itself)")->type_name("FILE");
  parser
      .add_option("--out-data", options->out_data,
                  "Folder for the merged data; may be DATA itself;\nthe next update needs it")
      ->type_name("DIR");
  parser.add_option("--format", options->log.format, "How the logs are written (default: found)")
      ->check(one_of(
          {"auto", "csv", "movielens", "netflix", "triplets", "pairs", "adjacency", "jsonl", "sqlite"}))
      ->capture_default_str();
  add_log_flags(parser, options->log);
  parser.add_flag(
      "--keep-lambda", options->keep_lambda,
      "Keep the counts of the last training,\nwhere Lambda or the weights depend on counts, instead "
      "of training again");
  parser.add_flag("--refit", options->refit,
                  "Train again on the merged data,\nand keep nothing of the earlier model");
  put_into_group(parser, "Reading", {"--format"});
  parser.footer(
      "The result is that of a training on the merged data, up to the same certificate. A dense\n"
      "full-rank model that was trained with --keep-inverse takes a part of the time of a\n"
      "training, one with --neighbours solves the columns again on which something changed, a\n"
      "weighted one of low rank takes further rounds from its factors (and may end at others than\n"
      "a training's), and other models are trained again. Rows of held-out users are left out.\n\n"
      "Examples:\n"
      "  poise update shop.model shop.data --log today.csv --out-data shop.data\n"
      "  poise update shop.model shop.data --log today.csv --remove returned.csv --out-data shop.data\n"
      "  poise update shop.model shop.data --log today.csv --out new.model --out-data new.data");
  return [options, &parser](const Context& context) { run_update(*options, parser, context); };
}

}  // namespace poise::app
