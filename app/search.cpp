#include "poise/search/search.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/search/search_json.hpp"
#include "poise/train/cost.hpp"

#include "device.hpp"
#include "model_flags.hpp"
#include "output_check.hpp"
#include "point_progress.hpp"
#include "product_speed.hpp"
#include "search_options.hpp"
#include "train.hpp"
#include "trained_report.hpp"

namespace poise::app {

namespace {

/// The flags of `poise search`: those of a single model, and the axes that take several values.
struct Options {
  TrainOptions model;
  std::vector<double> lambda;
  std::vector<double> alpha;
  std::vector<std::int64_t> rank;
  std::vector<double> dropout;
  std::vector<double> lambda_exponent;
  std::vector<std::string> weighting;
  SearchingOptions searching;
};

SearchSpace space_of(Options options, const Context& context) {
  const auto first = [](auto& single, const auto& axis) {
    if (!axis.empty()) single = axis.front();
  };
  expand_short_form(options.model, options.dropout, options.lambda_exponent);
  first(options.model.lambda, options.lambda);
  first(options.model.alpha, options.alpha);
  first(options.model.rank, options.rank);
  first(options.model.dropout, options.dropout);
  first(options.model.lambda_exponent, options.lambda_exponent);
  first(options.model.weighting, options.weighting);
  refuse_other_flags(options.model);
  // Beside other weightings none has the one point of alpha 1; alone, another alpha contradicts it.
  const auto all = [](const auto& axis, const auto& value) {
    return std::ranges::count(axis, value) == std::ssize(axis);
  };
  if (!options.weighting.empty() && all(options.weighting, "none") && !all(options.alpha, 1.0))
    fail(ErrorKind::usage, "--weighting none is alpha 1; give no --alpha, or other weightings too");
  options.model.alpha.reset();
  SearchSpace space{.base = parameters_of(options.model, context),
                    .alpha = options.alpha.empty() ? options.searching.alphas() : options.alpha,
                    .rank = options.rank,
                    .dropout = options.dropout,
                    .lambda_exponent = options.lambda_exponent,
                    .expand = !options.searching.no_expand,
                    .refine = options.searching.refine};
  if (!options.lambda.empty()) space.lambda = options.lambda;
  for (const std::string& name : options.weighting) space.scheme.push_back(parse_scheme(name));
  validate(space);
  return space;
}

/// What the chosen model reaches on each part.
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
    std::string line =
        fmt::format("{:>12} {:>8} {:>10} {} {}", point.lambda, point.weighting.alpha,
                    measured.failure.empty() ? fmt::format("{:.4f}", measured.score(choice)) : "no model",
                    points.key(point) == best ? "*" : " ", settings ? setting_name(point) : "");
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text + fmt::format("* best: {}\n", point_name(*result.best));
}

/// What there is when the time is up: the measured points of the grid, and what is missing.
void print_unfinished(const TimeIsUp& up, const SearchSpace& space, const Points& points,
                      const Context& context) {
  std::string text = fmt::format("the time limit is reached; missing {}, and what follows from them:\n",
                                 counted_points(up.missing.size()));
  for (const ModelParameters& point : up.missing) text += "  " + point_name(point) + "\n";
  context.print(unfinished_json(up, space, points), text + "run the same command again to go on\n");
}

void run(const Options& options, const Context& context) {
  const SearchSpace space = space_of(options, context);
  const MeasureOptions measure = options.searching.measure();
  const auto until = options.searching.until();
  if (!options.model.out.empty()) check_file_can_be_written(options.model.out);
  const LoadedDataset data = read_dataset(options.model.data, context.execution);
  if (data.dataset.validation && data.dataset.validation->targets.entries() == 0)
    fail(ErrorKind::input,
         "no user of the validation part of {} has anything to find; prepare it with a larger --target-share",
         options.model.data.string());
  if (!data.dataset.validation)
    fail(ErrorKind::input,
         "{} has no validation part to choose on; prepare it with --split users, or give --validation",
         options.model.data.string());
  for (const Scheme scheme : space.scheme.empty() ? std::vector{space.base.weighting.scheme} : space.scheme)
    check_values(scheme, data.dataset, context);
  check_memory(space, data.dataset.train.view(), context.memory_limit);
  const std::filesystem::path path =
      options.searching.journal.empty() ? options.model.data / "search.journal" : options.searching.journal;
  const auto backend = backend_for(
      [&] {
        return training_work(first_points(space), data.dataset.train.view(), context.memory_limit,
                             worth_a_gpu);
      },
      context);
  warn_if_slow(*backend, context);
  Journal journal(path, journal_header(measure, context.memory_limit, *backend));
  Trainer trainer(data, options.model.data, Keep::shared_parts, context.memory_limit, *backend,
                  context.execution);
  PointProgress progress(*context.progress, measure.choice);
  const PointWatcher watcher{.trained = [&](const PointResult& result, std::size_t left, double seconds) {
    progress.trained(result, left, seconds);
  }};
  Points points(trainer, measure, &journal, context.execution, watcher, until);
  std::vector<ModelParameters> left = first_points(space);
  const std::size_t grid = left.size();
  std::erase_if(left,
                [&](const ModelParameters& point) { return journal.find(points.key(point)) != nullptr; });
  context.say(fmt::format("{} of the grid, {} of them in the journal {}; about {} for the rest",
                          counted_points(grid), grid - left.size(), path.string(),
                          duration(points.expected_seconds(left))));
  const auto begin = Points::Clock::now();
  SearchResult result;
  try {
    result = search(points, space);
  } catch (const TimeIsUp& up) {
    print_unfinished(up, space, points, context);
    return;
  } catch (...) {
    say_if_interrupted(path, context);
    throw;
  }
  if (!result.best) fail(ErrorKind::numerical, "no point of the grid has a model; raise --lambda");

  const ModelParameters chosen = to_convergence(*result.best, space);
  Trained trained = trainer.train(chosen);
  warn_about(chosen, trained, context);
  std::string text = table_of(result, points) + trained_text(chosen, trained, data.dataset.train.view());
  const Json best = chosen_json(chosen, trained, points, context.execution);
  text += figures_of(best);
  if (!options.model.out.empty()) {
    save_model(options.model.out, trained.model, option_texts(chosen), data, best, context.execution.threads);
    context.say(fmt::format("written to {}", options.model.out.string()));
  }
  Json json = search_json(result, points, best);
  const double seconds = std::chrono::duration<double>(Points::Clock::now() - begin).count();
  json["seconds"] = seconds;
  json["device"] = backend->name();
  context.print(json,
                text + fmt::format("{} in {}\n", counted_points(result.points.size()), duration(seconds)));
}

}  // namespace

Run setup_search(CLI::App& parser) {
  auto options = std::make_shared<Options>();
  TrainOptions& model = options->model;
  parser.add_option("DATA", model.data, "Folder that `poise prepare` wrote")->required()->type_name("DIR");
  add_family(parser, model.model, false);
  add_axis(parser, "--lambda", options->lambda, "1e-4,1e-2,1,1e2,1e4");
  add_axis(parser, "--alpha", options->alpha, "those of --grid");
  add_axis(parser, "--rank", options->rank);
  add_axis(parser, "--dropout", options->dropout);
  add_axis(parser, "--lambda-exponent", options->lambda_exponent);
  add_axis(parser, "--weighting", options->weighting);
  add_fixed_flags(parser, model);
  add_searching_options(parser, options->searching);
  parser
      .add_option("--journal", options->searching.journal,
                  "File of finished points, to resume from (default: search.journal in DATA)")
      ->type_name("FILE");
  parser.add_option("--out", model.out, "Model file to write: the best point, trained to convergence")
      ->type_name("FILE");
  parser.footer(
      "Where the best point lies on an edge the grid goes on there. A point is trained once: what the "
      "journal\n"
      "has is not trained again, after an interruption or for a larger grid.\n\n"
      "Examples:\n"
      "  poise search ml-20m.data --model full-rank --zero-diagonal --refine 3 --out ease.model\n"
      "  poise search ml-20m.data --model awmf --regularizer dropout --rank 100 --grid extended --time-limit "
      "2h\n"
      "  poise search ml-20m.data --model ease-nu --refine 2 --out ease-nu.model\n"
      "  poise search ml-20m.data --model wmf --rank 64,128 --lambda-exponent 0,0.5,1 --alpha 5,10,20");
  return [options](const Context& context) { run(*options, context); };
}

}  // namespace poise::app
