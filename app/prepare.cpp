#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/data/attach_features.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/data/dislikes.hpp"
#include "poise/data/log_reader.hpp"
#include "poise/data/pro_sg.hpp"
#include "poise/data/split.hpp"

#include "command.hpp"
#include "dataset_report.hpp"
#include "help.hpp"
#include "input_files.hpp"
#include "interrupt.hpp"
#include "log_flags.hpp"
#include "option_values.hpp"
#include "output_check.hpp"
#include "prepare_cost.hpp"
#include "time_flags.hpp"

namespace poise::app {

namespace {

namespace fs = std::filesystem;

struct PrepareFlags {
  std::vector<fs::path> inputs;
  fs::path out;
  LogFlags log;
  std::optional<std::int64_t> min_user_items;
  std::optional<std::int64_t> min_item_users;
  bool k_core = false;
  std::string split = "users";
  std::optional<std::int64_t> held_out_users;
  std::optional<double> target_share;
  fs::path test;
  fs::path validation;
  fs::path item_features;
  std::optional<std::uint32_t> seed;
  fs::path export_pro_sg;
  bool export_values = false;
  TimeFlags time;
};

/// The features of items that a command line names.
struct Features {
  FeatureTable table;
  Ids known;  ///< the items that have one
};

constexpr std::int64_t default_min_user_items = 5;

/// Refuses a flag that has no effect with the rest of the command line.
void refuse(bool given, std::string_view flag, std::string_view reason) {
  if (given) fail(ErrorKind::usage, "{} {}", flag, reason);
}

void refuse_split_options(const PrepareFlags& options, std::string_view reason) {
  refuse(options.held_out_users.has_value(), "--held-out-users", reason);
  refuse(options.target_share.has_value(), "--target-share", reason);
  refuse(options.seed.has_value(), "--seed", reason);
}

void refuse_filters(const PrepareFlags& options, std::string_view reason) {
  refuse(options.min_user_items.has_value(), "--min-user-items", reason);
  refuse(options.min_item_users.has_value(), "--min-item-users", reason);
  refuse(options.k_core, "--k-core", reason);
}

/// Checks that need no inputs.
void check_flags(const PrepareFlags& options) {
  refuse(options.export_values && options.export_pro_sg.empty(), "--export-values",
         "goes with --export-pro-sg DIR");
  refuse(!options.export_pro_sg.empty() && options.split != "users", "--export-pro-sg",
         "goes with --split users");
  if (options.split == "given") {
    refuse(options.test.empty(), "--split given", "needs --test FILE");
    refuse_filters(options, "does not go with --split given, whose files are not changed");
    refuse_split_options(options, "does not go with --split given, whose files are not changed");
  } else {
    refuse(!options.test.empty(), "--test", "goes with --split given");
    refuse(!options.validation.empty(), "--validation", "goes with --split given");
  }
  if (options.split == "none") refuse_split_options(options, "does not go with --split none");
  if (is_split_in_time(options.split)) refuse_split_options(options, "goes with --split users");
  if (options.split == "cold-items") {
    refuse(options.item_features.empty(), "--split cold-items",
           "needs --item-features FILE, from which items that nobody has are recommended");
    refuse(options.held_out_users.has_value(), "--held-out-users", "goes with --split users");
    refuse(options.target_share.has_value(), "--target-share", "goes with --split users");
  }
  options.time.check(options.split);
  options.log.check();
}

Dataset read_pro_sg_folder(const PrepareFlags& options, const Execution& execution) {
  constexpr std::string_view reason = "does not go with the pro-sg format, whose files are not changed";
  refuse_filters(options, reason);
  refuse_split_options(options, reason);
  refuse(options.split != "users", "--split", reason);
  refuse(!options.log.columns.empty(), "--columns", reason);
  refuse(options.log.keep_above.has_value(), "--keep-above", reason);
  refuse(options.log.dislike_below.has_value(), "--dislike-below", reason);
  refuse(options.inputs.size() > 1, "more than one INPUT", reason);
  return read_pro_sg(options.inputs.front(), execution);
}

std::optional<Features> read_features(const PrepareFlags& options) {
  if (options.item_features.empty()) return std::nullopt;
  FeatureTable table = read_item_features(options.item_features, options.log.skip_bad_lines);
  Ids known = items_with_features(table);
  return Features{std::move(table), std::move(known)};
}

const Ids* known_items(const std::optional<Features>& features) {
  return features ? &features->known : nullptr;
}

Filters filters_of(const PrepareFlags& options, const std::optional<Features>& features) {
  return {.min_user_items = options.min_user_items.value_or(default_min_user_items),
          .min_item_users = options.min_item_users.value_or(0),
          .k_core = options.k_core,
          .known_items = known_items(features)};
}

Dataset split_log(const PrepareFlags& options, const Interactions& log,
                  const std::optional<Features>& features, const Execution& execution) {
  const Filters filters = filters_of(options, features);
  if (options.split == "none") return split_none(log, filters, execution);
  if (options.split == "last") return split_last(log, filters, options.time.holdout.value_or(1), execution);
  if (options.split == "time") return split_time(log, filters, options.time.splits().front(), execution);
  if (options.split == "cold-items")
    return split_cold_items(log, filters, options.seed.value_or(UserSplit().seed), execution);
  UserSplit split;
  split.held_out_users = options.held_out_users;
  split.target_share = options.target_share.value_or(split.target_share);
  split.seed = options.seed.value_or(split.seed);
  return split_users(log, filters, split, execution);
}

Interactions read_one_log(const std::vector<fs::path>& inputs, const PrepareFlags& options,
                          const LogOptions& reading, const Context& context) {
  Interactions log = read_log(inputs, reading, context.execution);
  context.say(fmt::format("{} read as {}", shown_inputs(inputs), with_names(log.reading, flag_name)));
  // For several logs, one hint about the first is enough.
  if (!log.keep_above && !reading.dislike_below && &inputs == &options.inputs)
    hint_about_values(log, context);
  return log;
}

Dataset read_logs(const PrepareFlags& options, const LogOptions& reading,
                  const std::optional<Features>& features, const Context& context) {
  const auto read = [&](const std::vector<fs::path>& inputs) {
    return read_one_log(inputs, options, reading, context);
  };
  const auto split = [&](const Interactions& log, const auto& split_liked) {
    return split_with_dislikes(log, split_liked, context.execution);
  };
  if (options.split != "given")
    return split(read(options.inputs), [&](const Interactions& liked) {
      return split_log(options, liked, features, context.execution);
    });
  const auto read_optional = [&](const fs::path& path) -> std::optional<Interactions> {
    if (path.empty()) return std::nullopt;
    Interactions log = read({path});
    // What is disliked later is no target, and training does not know it.
    if (!log.low.empty()) static_cast<void>(take_dislikes(log));
    return log;
  };
  const Interactions train = read(options.inputs);
  const std::optional<Interactions> validation = read_optional(options.validation);
  const std::optional<Interactions> test = read_optional(options.test);
  return split(train, [&](const Interactions& liked) {
    return split_given(liked, validation, test, context.execution, known_items(features));
  });
}

constexpr const char* pro_sg_files[] = {"train.csv",   "validation_tr.csv", "validation_te.csv",
                                        "test_tr.csv", "test_te.csv",       "unique_sid.txt"};

/// Writes the export and then the data, so that a failed export leaves neither.
void write_results(const PrepareFlags& options, const Dataset& dataset, const Execution& execution) {
  const fs::path& folder = options.export_pro_sg;
  if (folder.empty()) return write_dataset(options.out, dataset, execution);
  const bool fresh = !fs::exists(folder);
  try {
    write_pro_sg(folder, dataset, options.export_values, execution);
    write_dataset(options.out, dataset, execution);
  } catch (...) {
    std::error_code ignored;
    if (fresh) {
      for (const char* name : pro_sg_files) fs::remove(folder / name, ignored);
      fs::remove(folder, ignored);
    }
    throw;
  }
}

/// One log cut at several times: a folder of prepared data for each cut. Leaves none after a failure.
void prepare_cuts(const PrepareFlags& options, const LogOptions& reading,
                  const std::optional<Features>& features, const Context& context) {
  const fs::path next = options.out / fmt::format("cut-{}", options.time.test_from.size() + 1);
  if (fs::exists(next))
    fail(ErrorKind::usage, "{} is there already, of other cuts; remove it, or choose another --out",
         next.string());
  const Interactions log = read_one_log(options.inputs, options, reading, context);
  const bool fresh = !fs::exists(options.out);
  std::vector<fs::path> made;
  Json cuts = Json::array();
  std::string text;
  try {
    int number = 0;
    for (const TimeSplit& split : options.time.splits()) {
      Dataset dataset = split_with_dislikes(
          log,
          [&](const Interactions& liked) {
            return split_time(liked, filters_of(options, features), split, context.execution);
          },
          context.execution);
      if (features) attach_features(dataset, features->table);
      const fs::path folder = options.out / fmt::format("cut-{}", ++number);
      if (!fs::exists(folder)) made.push_back(folder);
      write_dataset(folder, dataset, context.execution);
      Json json = dataset_json(dataset);
      json["folder"] = folder.string();
      cuts.push_back(std::move(json));
      text += fmt::format("{}: {}", folder.string(), dataset_text(dataset));
      say_if_without_targets(dataset, context);
    }
  } catch (...) {
    std::error_code ignored;
    for (const fs::path& folder : made) fs::remove_all(folder, ignored);
    if (fresh) fs::remove(options.out, ignored);
    throw;
  }
  context.print({{"cuts", cuts}}, text);
  context.say(fmt::format("written to {}; poise study {} --over-cuts compares models over them",
                          options.out.string(), (options.out / "cut-*").string()));
}

void run_prepare(PrepareFlags options, const Context& context) {
  check_flags(options);
  options.inputs = matching_files(options.inputs);
  check_folder_can_be_written(options.out);
  if (!options.export_pro_sg.empty()) check_folder_can_be_written(options.export_pro_sg);
  std::vector<fs::path> logs = options.inputs;
  logs.insert(logs.end(), {options.test, options.validation});
  say_prepare_estimate(logs, context);
  LogOptions reading = options.log.options(options.inputs);
  reading.times = is_split_in_time(options.split);
  reading.time_unit = options.time.time_unit();
  const std::optional<Features> features = read_features(options);
  if (options.time.test_from.size() > 1) return prepare_cuts(options, reading, features, context);
  if (reading.format == LogFormat::pro_sg)
    context.say(fmt::format("{} read as pro-sg", options.inputs.front().string()));
  Dataset dataset = reading.format == LogFormat::pro_sg ? read_pro_sg_folder(options, context.execution)
                                                        : read_logs(options, reading, features, context);
  if (features) attach_features(dataset, features->table);
  write_results(options, dataset, context.execution);
  context.print(dataset_json(dataset), dataset_text(dataset));
  say_if_without_targets(dataset, context);
  context.say(fmt::format("written to {}", options.out.string()));
}

}  // namespace

Run setup_prepare(CLI::App& parser) {
  auto options = std::make_shared<PrepareFlags>();
  parser
      .add_option(
          "INPUT", options->inputs,
          "Logs: files (also .gz, .zst), 'log-*.csv', or -;\n- is standard input; an SQLite database; "
          "for netflix and pro-sg a folder")
      ->required()
      ->type_name("FILE");
  parser.add_option("--out", options->out, "Folder for the prepared data")->required()->type_name("DIR");
  parser.add_option("--format", options->log.format, "How the logs are written (default: found)")
      ->check(one_of({"auto", "csv", "movielens", "netflix", "triplets", "pairs", "adjacency", "jsonl",
                      "sqlite", "pro-sg"}))
      ->capture_default_str();
  add_log_flags(parser, options->log);
  parser.add_option("--min-user-items", options->min_user_items, "Drop users with fewer items (default: 5)")
      ->check(whole_number(0));
  parser
      .add_option("--min-item-users", options->min_item_users,
                  "Drop items with fewer users, before users (default: 0)")
      ->check(whole_number(0));
  parser.add_flag("--k-core", options->k_core, "Repeat both filters until nothing changes");
  parser
      .add_option("--split", options->split,
                  "users, time, last, cold-items, given or none;\nholds out whole users, what came after "
                  "--test-from, each user's last items, a tenth of the items (with --item-features), what "
                  "--test holds, or nothing")
      ->check(one_of({"users", "time", "last", "cold-items", "given", "none"}))
      ->capture_default_str();
  parser
      .add_option("--held-out-users", options->held_out_users,
                  "Users for validation and for test each (default: a tenth of the users)")
      ->check(whole_number(1, std::numeric_limits<std::int32_t>::max()));
  parser
      .add_option("--target-share", options->target_share,
                  "Share of a held-out user's items to find (default: 0.2)")
      ->check(number_between(0, 1));
  add_time_flags(parser, options->time);
  parser
      .add_option("--item-features", options->item_features,
                  "Features of items, for models that use them:\nrows of id, feature and perhaps value, or "
                  "columns that describe each id")
      ->type_name("FILE");
  parser.add_option("--test", options->test, "Test log of --split given")->type_name("FILE");
  parser.add_option("--validation", options->validation, "Validation log of --split given")
      ->type_name("FILE");
  parser.add_option("--seed", options->seed, "Seed of the split (default: 98765, as published splits)")
      ->check(whole_number(0, std::numeric_limits<std::uint32_t>::max()));
  parser
      .add_option("--export-pro-sg", options->export_pro_sg,
                  "Also write the csv layout of Liang et al. to this folder")
      ->type_name("DIR");
  parser.add_flag("--export-values", options->export_values, "Export the entries' values as a third column");
  put_into_group(parser, main_group, {"--columns", "--keep-above"});
  put_into_group(parser, "Filters", {"--min-user-items", "--min-item-users", "--k-core"});
  put_into_group(parser, "Splits",
                 {"--held-out-users", "--target-share", "--test", "--validation", "--seed"});
  put_into_group(parser, "Export", {"--export-pro-sg", "--export-values"});
  parser.footer(
      "Examples:\n"
      "  poise prepare ml-20m/ratings.csv --out ml-20m.data --held-out-users 10000\n"
      "  poise prepare shop.csv.zst --columns CustomerID,StockCode,Quantity --keep-above 0 --out shop.data\n"
      "  poise prepare ratings.csv --keep-above 3.5 --dislike-below 2.5 --out ratings.data\n"
      "  poise prepare train.txt --test test.txt --format adjacency --split given --out gowalla.data\n"
      "  poise prepare shop.csv --columns buyer,item,,time --split time --test-from 10% --out shop.data\n"
      "  poise prepare ratings.csv --item-features movies.csv --out ratings.data\n"
      "  poise prepare 'logs/2024-*.jsonl.gz' --columns user,item --out data\n"
      "  poise prepare shop.db --query \"select customer, product, bought from orders\" --out shop.data\n"
      "  zcat log.csv.gz | grep -v robot | poise prepare - --out data");
  return [options](const Context& context) { run_prepare(*options, context); };
}

}  // namespace poise::app
