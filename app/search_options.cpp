#include "search_options.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/data/validation_from_training.hpp"
#include "poise/search/search.hpp"

#include "help.hpp"
#include "interrupt.hpp"
#include "option_values.hpp"

namespace poise::app {

MeasureOptions SearchingOptions::measure() const {
  return {.metrics = parse_metrics(metrics),
          .choice = parse_aim(metric),
          .denominator = denominator == "min" ? RecallDenominator::min : RecallDenominator::targets,
          .race = !no_race};
}

SearchMethod SearchingOptions::method() const {
  return grid == "best" ? SearchMethod::best : SearchMethod::grid;
}

std::vector<double> SearchingOptions::lambdas() const {
  return grid == "best" ? std::vector<double>{} : paper_lambdas;
}

std::vector<double> SearchingOptions::alphas() const {
  if (grid == "best") return {};
  return grid == "extended" ? extended_alphas : paper_alphas;
}

std::optional<Points::Clock::time_point> SearchingOptions::until() const {
  if (time_limit.empty()) return {};
  return Points::Clock::now() + std::chrono::duration_cast<Points::Clock::duration>(
                                    std::chrono::duration<double>(parse_duration(time_limit)));
}

void add_searching_options(CLI::App& parser, SearchingOptions& options) {
  parser
      .add_option(
          "--grid", options.grid,
          "What is tried: best, paper or extended;\nbest: the best lambda of each alpha, then the best "
          "alpha, below 1 and above it; or a fixed grid: paper (alpha 1,2,5,10,20) or extended (0.2 and "
          "0.5 too)")
      ->check(one_of({"best", "paper", "extended"}))
      ->capture_default_str();
  parser.add_option("--metric", options.metric, "Metric that chooses the best point")->capture_default_str();
  parser.add_option("--metrics", options.metrics, "What else is measured")->capture_default_str();
  parser
      .add_option("--recall-denominator", options.denominator,
                  "Recall divides by min(R, targets), or by all targets,\nas papers on given splits do")
      ->check(one_of({"min", "targets"}))
      ->capture_default_str();
  parser
      .add_option(
          "--refine", options.refine,
          "For a fixed grid: how often to halve the spacing of lambda and alpha around the best point")
      ->check(whole_number(0, 20))
      ->capture_default_str();
  parser.add_flag("--no-expand", options.no_expand,
                  "For a fixed grid: stay inside it, even if the best point lies on its edge");
  parser.add_option(
      "--time-limit", options.time_limit,
      "Begin no point after this time (90s, 30m, 2h, 1d);\nfinished points are kept in the journal");
  parser.add_option("--points", options.points, "Try no more points than this in a search")
      ->check(whole_number(1, 1'000'000));
  parser.add_flag("--no-race", options.no_race,
                  "For --grid best: score every point on all users, even one that falls far behind");
  put_into_group(parser, "Search",
                 {"--metrics", "--recall-denominator", "--refine", "--no-expand", "--points", "--no-race"});
}

void say_what_has_no_effect(const SearchingOptions& options, const Context& context) {
  if (options.grid != "best") return;
  const auto note = [&](const char* flag) {
    context.say(
        fmt::format("note: {} is for the fixed grids; --grid best finds its own spacing and edges", flag));
  };
  if (options.refine != 0) note("--refine");
  if (options.no_expand) note("--no-expand");
}

std::optional<LoadedDataset> validation_of_given(const LoadedDataset& data, const std::string& name,
                                                 const Context& context) {
  if (!lacks_given_validation(data.dataset)) return {};
  std::optional<LoadedDataset> derived = validation_from_training(data, context.seed, context.execution);
  context.say(
      fmt::format("{} has no validation part: a tenth of each user's training rows, {} of {}, drawn by "
                  "--seed {}, is held out to choose on; what is chosen is trained on all rows",
                  name, grouped(derived->dataset.validation->targets.entries()),
                  grouped(data.dataset.train.entries()), context.seed));
  return derived;
}

double parse_duration(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const double seconds = unit.empty() || unit == "s"    ? 1
                         : unit == "m" || unit == "min" ? 60
                         : unit == "h"                  ? 3600
                         : unit == "d"                  ? 86400
                                                        : 0;
  if (error != std::errc() || seconds == 0 || !std::isfinite(value) || value < 0)
    fail(ErrorKind::usage, "\"{}\" is not a time: write 90s, 30m, 2h or 1d", text);
  return value * seconds;
}

void say_if_interrupted(const std::filesystem::path& journal, const Context& context) {
  if (interrupted())
    context.say(fmt::format("finished work is in {}; the same command goes on from there", journal.string()));
}

}  // namespace poise::app
