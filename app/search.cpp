#include "poise/search/search.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/report/report.hpp"
#include "poise/search/point_team.hpp"
#include "poise/search/search_json.hpp"
#include "poise/search/space_axes.hpp"
#include "poise/study/search_study.hpp"
#include "poise/train/cost.hpp"

#include "device.hpp"
#include "help.hpp"
#include "interrupt.hpp"
#include "model_flags.hpp"
#include "output_check.hpp"
#include "point_progress.hpp"
#include "product_speed.hpp"
#include "ranks.hpp"
#include "search_options.hpp"
#include "study_files.hpp"
#include "train.hpp"
#include "trained_report.hpp"

namespace poise::app {

namespace {

struct SearchFlags {
  std::filesystem::path data;
  std::filesystem::path out;
  ModelFlags model;  ///< axes have several values
  SearchingOptions searching;
  std::filesystem::path report;
};

SearchSpace space_of(SearchFlags options, const Context& context) {
  ModelFlags& flags = options.model;
  const SearchMethod method = options.searching.method();
  expand_short_form(flags, method == SearchMethod::best ? Usual::range : Usual::values);
  refuse_other_flags(flags);
  const std::vector<std::string> schemes =
      flags.has("weighting") ? flags.given["weighting"] : std::vector<std::string>();
  const std::vector<std::string> alphas =
      flags.has("alpha") ? flags.given["alpha"] : std::vector<std::string>();
  // Among several weightings, `none` has the one point of alpha 1; alone, another alpha contradicts it.
  const auto all = [](const auto& axis, const auto& value) {
    return std::ranges::count(axis, value) == std::ssize(axis);
  };
  if (!schemes.empty() && all(schemes, "none") && !all(alphas, "1"))
    fail(ErrorKind::usage, "--weighting none is alpha 1; give no --alpha, or other weightings too");
  SearchSpace space{.method = method,
                    .lambda = options.searching.lambdas(),
                    .alpha = options.searching.alphas(),
                    .expand = !options.searching.no_expand,
                    .refine = options.searching.refine,
                    .most_points = options.searching.points};
  for (const auto& [id, texts] : flags.given) {
    if (parameter_of(id).is.axis != SearchAxis::none) set_axis(space, id, texts);
  }
  flags.given.erase("alpha");
  space.base = parameters_of(flags, context);
  validate(space);
  return space;
}

/// The figures of the chosen model on each part.
std::string figures_of(const Json& chosen) {
  std::string text;
  for (const char* const part : {"validation", "test"}) {
    if (!chosen.contains(part)) continue;
    text += fmt::format("  {:<10}", part);
    for (const auto& [metric, estimate] : chosen[part].items())
      text += fmt::format("  {} {:.4f}", metric, estimate["mean"].get<double>());
    text += "\n";
  }
  return text;
}

std::string table_of(const SearchResult& result, const Points& points) {
  const Metric& choice = points.options().choice;
  const std::string best = points.key(*result.best);
  const bool settings = std::ranges::any_of(result.points, [&](const ModelParameters& point) {
    return setting_name(point) != setting_name(result.points.front());
  });
  std::string text = fmt::format("{:>12} {:>8} {:>10}\n", "lambda", "alpha", to_string(choice));
  for (const ModelParameters& point : result.points) {
    const PointResult& measured = points.at(point);
    const std::string score = !measured.failure.empty() ? "no model"
                              : measured.cut            ? fmt::format("~{:.4f}", measured.cut->mean)
                                                        : fmt::format("{:.4f}", measured.score(choice));
    std::string line =
        fmt::format("{:>12} {:>8} {:>10} {} {}", point.lambda, point.weighting.alpha, score,
                    points.key(point) == best ? "*" : " ", settings ? setting_name(point) : "");
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  text += fmt::format("* best: {}\n", point_name(*result.best));
  if (const auto [done, spared] = result.scorings; spared > 0)
    text += fmt::format(
        "~ an estimate: too far behind to be scored on all users, which saved {:.0f} % of the scoring\n",
        100.0 * static_cast<double>(spared) / static_cast<double>(done + spared));
  return text;
}

/// The points that an incomplete search would have tried next.
std::string next_points_text(const SearchResult& result) {
  std::string text = fmt::format("not complete; next would be {}, and more that depend on them:\n",
                                 counted_points(result.missing.size()));
  for (const ModelParameters& point : result.missing) text += "  " + point_name(point) + "\n";
  return text + "run the same command with more time or points to continue\n";
}

/// The best of each kind: "weights above 1: 0.3512 at lambda 464, alpha 1.47".
std::string kinds_text(const SearchResult& result, const Points& points) {
  std::string text;
  for (const auto& [name, best] : {std::pair("no weights", result.unweighted),
                                   {"weights above", result.weighted},
                                   {"weights below", result.down_weighted}}) {
    if (best)
      text += fmt::format("  {:<14} {:.4f}  {}\n", name, points.at(*best).score(points.options().choice),
                          point_name(*best));
  }
  for (const SearchProfile& profile : result.profiles) {
    if (profile.complete && profile.best && !profile.interior)
      text += fmt::format("  {} lies at the end of a range: nothing was tried beyond it\n",
                          point_name(*profile.best));
  }
  return text;
}

/// Trains a chosen point, on all rows if the search left some out, and writes it to --out if given.
TrainReport save_best(const SearchFlags& options, const ModelParameters& chosen, const SearchSpace& space,
                      Points& points, const AllRows& all_rows, const Context& context) {
  const LoadedDataset& data = all_rows.data ? *all_rows.data : points.trainer().data();
  const Chosen best = train_chosen(chosen, points, all_rows, context.execution);
  const Trained& trained = best.trained;
  warn_about(chosen, trained, context);
  TrainReport report;
  report.json = chosen_json(chosen, best, space.method);
  report.text = trained_text(chosen, trained, data.dataset.train.view()) + figures_of(report.json);
  if (!options.out.empty()) {
    save_model(options.out, *trained.model, option_texts(chosen), data, report.json,
               context.execution.threads);
    context.say(fmt::format("written to {}", options.out.string()));
  }
  return report;
}

/// Writes the search as a study of its own model to --report.
void write_report(const SearchFlags& options, const SearchSpace& space, const SearchResult& result,
                  Points& points, const AllRows& all_rows, Journal& journal,
                  std::optional<Points::Clock::time_point> until, Points::Clock::time_point begin,
                  const Context& context) {
  std::set<std::string> taken;
  StudyResults results = search_study(data_name(options.data, taken), points, all_rows, &journal, space,
                                      result, options.searching.grid, context.execution, until);
  results.conclusions = conclude(results);
  results.seconds = std::chrono::duration<double>(Points::Clock::now() - begin).count();
  write_study(options.report, results);
  context.say(fmt::format("report written to {}", (options.report / "report.html").string()));
}

/// Prints the results, after the best point was trained to convergence and `report` was written.
void finish(const SearchFlags& options, const SearchSpace& space, const SearchResult& result, Points& points,
            const AllRows& all_rows, Points::Clock::time_point begin, const std::function<void()>& report,
            const Context& context) {
  std::string text;
  Json best;
  if (result.best) {
    const TrainReport trained =
        save_best(options, to_convergence(*result.best, space), space, points, all_rows, context);
    best = trained.json;
    text = table_of(result, points);
    if (space.method == SearchMethod::best) text += kinds_text(result, points);
    text += trained.text;
  }
  report();
  if (!result.complete) text += next_points_text(result);
  Json json = search_json(result, points, best);
  const double seconds = std::chrono::duration<double>(Points::Clock::now() - begin).count();
  json["seconds"] = seconds;
  json["device"] = points.trainer().backend().name();
  if (all_rows.data != nullptr)
    json["validation_from_training"] = points.trainer().data().dataset.validation->targets.entries();
  context.print(json,
                text + fmt::format("{} in {}\n", counted_points(result.points.size()), duration(seconds)));
}

void say_plan(const SearchSpace& space, Points& points, const Journal& journal,
              const std::filesystem::path& path, const Context& context) {
  std::vector<ModelParameters> left = first_points(space);
  const std::size_t first = left.size();
  std::erase_if(left,
                [&](const ModelParameters& point) { return journal.find(points.key(point)) != nullptr; });
  if (space.method == SearchMethod::grid) {
    context.say(fmt::format("{} of the grid, {} of them in the journal {}; about {} for the rest",
                            counted_points(first), first - left.size(), path.string(),
                            duration(points.expected_seconds(left))));
    return;
  }
  const std::size_t usual = usual_points(space);
  const double each = points.expected_seconds(first_points(space)) / static_cast<double>(first);
  context.say(fmt::format("usually some {}, about {}; {} are in the journal {}", counted_points(usual),
                          duration(each * static_cast<double>(usual)), journal.size(), path.string()));
}

/// Error{input} if there is nothing to choose on, or no values for the weighting.
void check_data(const Dataset& dataset, const SearchSpace& space, const SearchFlags& options,
                const Context& context) {
  if (dataset.validation && dataset.validation->targets.entries() == 0)
    fail(ErrorKind::input,
         "no user of the validation part of {} has anything to find; prepare it with a larger --target-share",
         options.data.string());
  if (!dataset.validation)
    fail(ErrorKind::input,
         "{} has no validation part to choose on; prepare it with --split users, or give --validation",
         options.data.string());
  for (const Scheme scheme : space.scheme.empty() ? std::vector{space.base.weighting.scheme} : space.scheme)
    check_values(scheme, !dataset.train.values.empty(), context);
}

void run_search(const SearchFlags& options, const Context& context) {
  say_what_has_no_effect(options.searching, context);
  const SearchSpace space = space_of(options, context);
  const MeasureOptions measure = options.searching.measure();
  const auto until = options.searching.until();
  const bool first = context.processes->first();
  if (first && !options.out.empty()) check_file_can_be_written(options.out);
  if (first && !options.report.empty()) check_folder_can_be_written(options.report);
  const LoadedDataset prepared = read_dataset(options.data, context.execution);
  check_same_data(options.data.string(), prepared.checksum, context);
  const std::optional<LoadedDataset> with_validation =
      validation_of_given(prepared, options.data.string(), context);
  const LoadedDataset& data = with_validation ? *with_validation : prepared;
  const AllRows all_rows = with_validation ? AllRows{&prepared, options.data} : AllRows{};
  check_data(data.dataset, space, options, context);
  check_memory(space, prepared.dataset.training_rows(), prepared.dataset.features.rows.view(),
               context.memory_limit);
  const std::filesystem::path path =
      options.searching.journal.empty() ? options.data / "search.journal" : options.searching.journal;
  const auto backend = backend_for(
      [&] {
        return training_work(first_points(space), data.dataset.training_rows(),
                             data.dataset.features.rows.view(), context.memory_limit, worth_a_gpu);
      },
      context);
  check_device(first_points(space), *backend);
  const auto train_on = [&](Keep keep) {
    return std::make_unique<Trainer>(data, with_validation ? std::filesystem::path() : options.data, keep,
                                     context.memory_limit, *backend, context.execution);
  };
  auto trainer = train_on(Keep::shared_parts);
  Points own_points(*trainer, measure, nullptr, context.execution);
  if (!first) return serve_points(*context.processes, own_points);
  warn_if_slow(*backend, context);
  Journal journal(path, journal_header(measure, context.memory_limit, *backend));
  PointProgress progress(*context.progress, measure.choice);
  const PointWatcher watcher{.trained = [&](const PointResult& result, std::size_t left, double seconds) {
    progress.trained(result, left, seconds);
  }};
  auto points = std::make_unique<Points>(*trainer, measure, &journal, context.execution, watcher, until);
  say_plan(space, *points, journal, path, context);
  const auto begin = Points::Clock::now();
  bool saved = false;
  try {
    std::optional<PointTeam> team;
    if (context.processes->several()) points->share_with(&team.emplace(*context.processes, own_points));
    const SearchResult result = search(*points, space);
    if (!result.best && result.complete)
      fail(ErrorKind::numerical, "no point of the grid has a model; raise --lambda");
    const auto report = [&] {
      saved = true;
      if (!options.report.empty())
        write_report(options, space, result, *points, all_rows, journal, until, begin, context);
    };
    finish(options, space, result, *points, all_rows, begin, report, context);
  } catch (...) {
    say_if_interrupted(path, context);
    const auto best = best_of(*points, points->measured()).best;
    if (saved || options.out.empty() || !interrupted() || !best) throw;
    // The state that the interruption left is not used again.
    points.reset();
    trainer = train_on(Keep::nothing);
    points = std::make_unique<Points>(*trainer, measure, &journal, context.execution);
    go_on_after_interruption();
    context.say(fmt::format("training the best point so far, {}, for {}; interrupt again to stop without it",
                            point_name(*best), options.out.string()));
    save_best(options, to_convergence(*best, space), space, *points, all_rows, context);
    throw Error(ErrorKind::interrupted, "interrupted");
  }
}

}  // namespace

Run setup_search(CLI::App& parser) {
  auto options = std::make_shared<SearchFlags>();
  parser.add_option("DATA", options->data, "Folder that `poise prepare` wrote")->required()->type_name("DIR");
  add_model_flags(parser, options->model, FlagValues::several);
  add_searching_options(parser, options->searching);
  parser
      .add_option("--journal", options->searching.journal,
                  "Finished points, to resume from;\nby default search.journal in DATA")
      ->type_name("FILE");
  parser.add_option("--out", options->out, "Model file to write: the best point, trained fully")
      ->type_name("FILE");
  parser
      .add_option("--report", options->report,
                  "Folder for tables, results and report.html,\nas `poise study` writes them, of this model: "
                  "the best "
                  "points of each kind, trained to convergence and, where there is a test part, tested")
      ->type_name("DIR");
  put_into_group(parser, "Search", {"--journal"});
  parser.footer(
      "With --grid best several values of an axis are its range, and one value fixes it; --rank\n"
      "and --weighting are searched one by one. Points in the journal are not trained again. A\n"
      "search that runs out of --time-limit or --points, or is interrupted, writes the best model\n"
      "so far to --out.\n\n"
      "Examples:\n"
      "  poise search ml-20m.data --model full-rank --zero-diagonal --out ease.model\n"
      "  poise search ml-20m.data --model edlae --dropout auto --time-limit 2h --out edlae.model\n"
      "  poise search ml-20m.data --model wmf --rank 64 --weighting constant,log --report wmf\n"
      "  poise search ml-20m.data --model wmf --rank 64,128 --alpha 1,50 --lambda-exponent auto\n"
      "  poise search ml-20m.data --model awmf --regularizer dropout --rank 100 --grid extended --refine 3");
  return [options](const Context& context) { run_search(*options, context); };
}

}  // namespace poise::app
