#include "poise/study/study.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/report/markdown.hpp"
#include "poise/report/report.hpp"

#include "device.hpp"
#include "help.hpp"
#include "option_values.hpp"
#include "output_check.hpp"
#include "point_progress.hpp"
#include "product_speed.hpp"
#include "ranks.hpp"
#include "search_options.hpp"
#include "study_files.hpp"
#include "study_seeds.hpp"

namespace poise::app {

namespace {

struct StudyFlags {
  std::vector<std::filesystem::path> data;
  std::filesystem::path out;
  std::vector<std::int64_t> ranks = {10, 100, 1000};
  std::vector<std::int64_t> neighbours;
  std::vector<std::string> alpha_negative;
  std::string models = "all";
  std::vector<std::string> compare_paper;
  std::vector<std::uint32_t> seeds;
  bool over_cuts = false;
  double tolerance = 1e-6;
  SearchingOptions searching;
};

std::vector<StudyInput> read_inputs(const StudyFlags& options, const Context& context) {
  if (!options.compare_paper.empty() && options.compare_paper.size() != options.data.size())
    fail(ErrorKind::usage,
         "--compare-paper names {} data sets and there are {}: name one for each, in their order",
         options.compare_paper.size(), options.data.size());
  std::set<std::string> taken;
  std::vector<StudyInput> inputs;
  for (std::size_t k = 0; k < options.data.size(); ++k) {
    const std::filesystem::path& folder = options.data[k];
    inputs.push_back({.name = data_name(folder, taken),
                      .folder = folder,
                      .data = read_dataset(folder, context.execution),
                      .paper_data = options.compare_paper.empty() ? "" : options.compare_paper[k]});
    for (const StudyInput& other : std::span(inputs).first(k)) {
      if (other.data.checksum == inputs.back().data.checksum)
        fail(ErrorKind::usage, "{} and {} hold the same data", other.folder.string(), folder.string());
    }
  }
  if (options.over_cuts) {
    static_cast<void>(names_of_cuts(inputs));
    // The cuts are splits of the same data, which their common folder names.
    const std::filesystem::path first = std::filesystem::absolute(inputs.front().folder).lexically_normal();
    const bool numbered = first.filename().string().starts_with("cut-");
    for (StudyInput& input : inputs)
      input.name = numbered ? first.parent_path().filename().string() : inputs.front().name;
    return inputs;
  }
  check_seeds(options.seeds, options.seeds.empty() ? std::span<const StudyInput>() : inputs);
  if (!options.seeds.empty()) return inputs;
  for (StudyInput& input : inputs) {
    if (auto derived = validation_of_given(input.data, input.name, context))
      input.all_rows = std::exchange(input.data, std::move(*derived));
  }
  return inputs;
}

std::vector<std::pair<std::string, std::string>> option_list(const StudyFlags& options,
                                                             const Context& context) {
  std::vector<std::pair<std::string, std::string>> list = {
      {"--models", options.models},
      {"--ranks", fmt::format("{}", fmt::join(options.ranks, ","))},
      {"--grid", options.searching.grid},
      {"--metric", options.searching.metric},
      {"--metrics", options.searching.metrics},
      {"--recall-denominator", options.searching.denominator},
      {"--tolerance", fmt::format("{}", options.tolerance)},
      {"--seed", fmt::format("{}", context.seed)}};
  if (!options.neighbours.empty())
    list.emplace_back("--neighbours", fmt::format("{}", fmt::join(options.neighbours, ",")));
  if (!options.alpha_negative.empty())
    list.emplace_back("--alpha-negative", fmt::format("{}", fmt::join(options.alpha_negative, ",")));
  if (options.searching.grid != "best")
    list.emplace_back("--refine", fmt::format("{}", options.searching.refine));
  if (options.searching.points) list.emplace_back("--points", fmt::format("{}", *options.searching.points));
  if (options.searching.no_race) list.emplace_back("--no-race", "");
  if (options.searching.no_expand) list.emplace_back("--no-expand", "");
  if (!options.compare_paper.empty())
    list.emplace_back("--compare-paper", fmt::format("{}", fmt::join(options.compare_paper, ",")));
  return list;
}

/// The kinds that --models all does not have.
std::string by_name_only() {
  std::vector<std::string> names;
  for (const ModelKind& kind : studied_kinds()) {
    if (!kind.in_all) names.push_back(kind.name);
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

/// The points that an incomplete study would do next.
std::string points_left_text(const StudyResults& results) {
  if (results.missing.empty()) return "";
  std::string text = fmt::format("next would be {}:\n", counted_points(results.missing.size()));
  for (const ModelParameters& point : results.missing)
    text += fmt::format("  {}{}{}: {}\n", family_name(point.family),
                        family_of(point).find("regularizer") != nullptr
                            ? fmt::format(", {}", regularizer_name(point.regularizer))
                            : "",
                        point.zero_diagonal ? ", zero diagonal" : "", point_name(point));
  return text;
}

/// What a process other than the first does.
void serve(std::span<const StudyInput> inputs, const StudyFlags& options, const StudyOptions& study_options,
           Backend& backend, const Context& context) {
  if (options.over_cuts)
    serve_cuts(inputs, study_options, backend, context.execution, *context.processes);
  else if (options.seeds.empty())
    serve_study(inputs, study_options, backend, context.execution, *context.processes);
  else
    serve_splits(inputs, options.seeds, study_options, backend, context.execution, *context.processes);
}

void run_study(const StudyFlags& options, const Context& context) {
  const auto begin = Points::Clock::now();
  say_what_has_no_effect(options.searching, context);
  if (options.over_cuts && !options.seeds.empty())
    fail(ErrorKind::usage, "--over-cuts does not go with --seeds: no seed can draw a split in time again");
  if (options.over_cuts && !options.compare_paper.empty())
    fail(ErrorKind::usage, "--over-cuts does not go with --compare-paper, whose splits are not in time");
  StudyOptions study_options{.kinds = parse_kinds(options.models),
                             .ranks = options.ranks,
                             .neighbours = options.neighbours,
                             .alpha_negative = options.alpha_negative,
                             .method = options.searching.method(),
                             .alphas = options.searching.alphas(),
                             .expand = !options.searching.no_expand,
                             .refine = options.searching.refine,
                             .most_points = options.searching.points,
                             .measure = options.searching.measure(),
                             .base = {.tolerance = options.tolerance, .rounds = 1000, .seed = context.seed},
                             .memory_limit = context.memory_limit};
  put_in_order(study_options);
  const auto until = options.searching.until();
  const bool first = context.processes->first();
  if (first) check_folder_can_be_written(options.out);
  const std::vector<StudyInput> inputs = read_inputs(options, context);
  for (const StudyInput& input : inputs)
    check_same_data(input.folder.string(), input.prepared().checksum, context);
  const std::filesystem::path path =
      options.searching.journal.empty() ? options.out / "study.journal" : options.searching.journal;
  const auto backend = backend_for([&] { return study_work(inputs, study_options, worth_a_gpu); }, context);
  if (!first) return serve(inputs, options, study_options, *backend, context);
  warn_if_slow(*backend, context);
  if (backend->traits().own_memory && !options.neighbours.empty())
    context.say("models with --neighbours are trained on the processor, the others on the GPU");
  std::filesystem::create_directories(options.out);
  Journal journal(path, journal_header(study_options.measure, context.memory_limit, *backend));
  if (journal.size() > 0)
    context.say(fmt::format("continuing from the {} entries of {}", journal.size(), path.string()));

  StudyResults results;
  try {
    PointProgress progress(*context.progress, study_options.measure.choice);
    const StudyWatcher watcher{
        .points = {.trained = [&](const PointResult& result, std::size_t left,
                                  double seconds) { progress.trained(result, left, seconds); }},
        .planned =
            [&](const std::string& data, std::size_t searches, std::size_t points, double seconds) {
              progress.begin_data(data);
              context.say(
                  fmt::format("{}: {} searches, {} to train first, about {}, then more that depend on them",
                              data, searches, counted_points(points), duration(seconds)));
            },
        .searching = [&](const std::string& model) { progress.begin_model(model); },
        .say = [&](const std::string& line) { context.say(line); }};
    if (!options.seeds.empty() || options.over_cuts)
      return study_seeds({.inputs = inputs,
                          .seeds = options.seeds,
                          .options = study_options,
                          .until = until,
                          .out = options.out,
                          .flags = option_list(options, context)},
                         journal, *backend, watcher, context);
    results =
        study(inputs, study_options, journal, *backend, context.execution, watcher, until, context.processes);
  } catch (...) {
    say_if_interrupted(path, context);
    throw;
  }
  results.options = option_list(options, context);
  results.conclusions = conclude(results);
  results.seconds = std::chrono::duration<double>(Points::Clock::now() - begin).count();

  write_study(options.out, results);
  context.print(to_json(results), study_markdown(results) + points_left_text(results));
  context.say(fmt::format("{} in {}; written to {}", counted_points(results.points.size()),
                          duration(results.seconds), (options.out / "report.html").string()));
}

/// What every search of the study has.
void add_parameters_of_all(CLI::App& parser, StudyFlags& options) {
  parser
      .add_option("--neighbours", options.neighbours,
                  "Also full rank with so many entries in each column\nof B, as `poise train` does; where "
                  "dense models do not fit, these alone")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number(1, 2'147'483'647));
  parser
      .add_option("--alpha-negative", options.alpha_negative,
                  "Weight of dislikes in every model (default: 1)\nas `poise train` has it; several values: "
                  "a,b,c, with "
                  "--grid best a range, or auto")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(number_or("auto"));
}

}  // namespace

Run setup_study(CLI::App& parser) {
  auto options = std::make_shared<StudyFlags>();
  parser.add_option("DATA", options->data, "Folders that `poise prepare` wrote")
      ->required()
      ->type_name("DIR");
  parser.add_option("--out", options->out, "Folder for the tables, the results and report.html")
      ->required()
      ->type_name("DIR");
  parser.add_option("--ranks", options->ranks, "Ranks of the low-rank models")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  add_parameters_of_all(parser, *options);
  parser
      .add_option("--models", options->models,
                  fmt::format("all, or a list of names or of the paper's numbers:\n{}; {} by name only",
                              fmt::join(numbered_names(studied_kinds()), ", "), by_name_only()))
      ->check(list_of(kind_names()))
      ->capture_default_str();
  parser
      .add_option(
          "--compare-paper", options->compare_paper,
          "Which data of the paper each DATA is:\nml-20m, netflix or msd, to show the paper's figures beside")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of({"ml-20m", "netflix", "msd"}));
  parser
      .add_option(
          "--seeds", options->seeds,
          "Split the data again by each of these seeds: 1,2,3;\nstudy each split, and report means and "
          "spread over splits")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number(0, std::numeric_limits<std::uint32_t>::max()));
  parser.add_flag(
      "--over-cuts", options->over_cuts,
      "DATA are cuts of one log in time: means over them;\ncuts of `poise prepare --split time --test-from "
      "T1,T2,T3`: study each, and report means and spread over cuts");
  parser
      .add_option("--tolerance", options->tolerance,
                  "Bound on certificate.worst_column; for low-rank models, on their final inner solves")
      ->check(positive_number())
      ->capture_default_str();
  add_searching_options(parser, options->searching);
  put_into_group(parser, "Search", {"--tolerance", "--alpha-negative"});
  parser
      .add_option("--journal", options->searching.journal,
                  "Finished work, to resume from;\nby default study.journal in --out")
      ->type_name("FILE");
  parser.footer(
      "Does weighting help, for which rank, with which regularizer? For every model and rank the\n"
      "validation part chooses the best unweighted point and the best with weights above and\n"
      "below 1; the test part is read once, for these. Writes tables.md, tables.tex, results.csv,\n"
      "results.json and report.html. If a study is interrupted or killed, the same command goes on;\n"
      "if --time-limit runs out, the tables show the results so far. With --seeds each split's\n"
      "files are in DIR/seed-N, with --over-cuts in DIR/cut-N, and those over splits in DIR.\n\n"
      "Examples:\n"
      "  poise study ml-20m.data --out study --ranks 10,100 --compare-paper ml-20m\n"
      "  poise study netflix.data msd.data --out study --models full-rank,ease --time-limit 8h\n"
      "  poise study shop.data --out study --models ease,wmf --ranks 50 --seeds 1,2,3\n"
      "  poise study shop.cuts/cut-* --out study --models ease,wmf --ranks 50 --over-cuts\n"
      "  poise study shop.data --out study --models ease,ease-nu --neighbours 100,300");
  return [options](const Context& context) { run_study(*options, context); };
}

}  // namespace poise::app
