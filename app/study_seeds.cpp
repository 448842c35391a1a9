#include "study_seeds.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/data/resplit.hpp"
#include "poise/data/validation_from_training.hpp"
#include "poise/report/report.hpp"

#include "point_progress.hpp"
#include "study_files.hpp"

namespace poise::app {
namespace {

using Clock = Points::Clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<std::pair<std::string, std::string>> with_seeds(const SeedsStudy& asked,
                                                            const std::string& seeds) {
  auto flags = asked.flags;
  flags.emplace_back(asked.seeds.empty() ? "--over-cuts" : "--seeds", seeds);
  return flags;
}

/// Prints how the data are split again, unless it is obvious.
void say_how(const SeedsStudy& asked, const Context& context) {
  for (const StudyInput& input : asked.inputs) {
    const Dataset& dataset = input.data.dataset;
    if (dataset.split != SplitKind::given) continue;
    context.say(fmt::format(
        "{}: the given split is drawn again, with each user's number of rows in each part as before{}",
        input.name,
        lacks_given_validation(dataset) ? "; a tenth of each user's training rows is held out to choose on, "
                                          "and what is chosen is trained on all rows"
                                        : ""));
  }
}

}  // namespace

void check_seeds(std::span<const std::uint32_t> seeds, std::span<const StudyInput> inputs) {
  std::vector<std::uint32_t> sorted(seeds.begin(), seeds.end());
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    fail(ErrorKind::usage, "--seeds has {} twice; a split counts once", *twice);
  for (const StudyInput& input : inputs) check_can_split_again(input.data.dataset, input.folder.string());
}

void study_seeds(const SeedsStudy& asked, Journal& journal, Backend& backend, const StudyWatcher& watcher,
                 const Context& context) {
  const auto begin = Clock::now();
  auto begin_of_split = begin;
  std::size_t points = 0;
  const bool cuts = asked.seeds.empty();
  const std::vector<std::string> names = cuts ? names_of_cuts(asked.inputs) : std::vector<std::string>();
  const std::size_t count = cuts ? names.size() : asked.seeds.size();
  const auto name_of = [&](std::uint32_t seed) {
    return cuts ? fmt::format("cut at {}", names[seed - 1]) : fmt::format("by seed {}", seed);
  };
  say_how(asked, context);
  const SplitsWatcher splits{
      .begin =
          [&](std::uint32_t seed, std::size_t place) {
            begin_of_split = Clock::now();
            context.say(fmt::format("split {} of {}, {}", place + 1, count, name_of(seed)));
          },
      .finished =
          [&](std::uint32_t seed, StudyResults& results) {
            results.options = with_seeds(asked, cuts ? names[seed - 1] : fmt::format("{}", seed));
            results.conclusions = conclude(results);
            results.seconds = seconds_since(begin_of_split);
            points += results.points.size();
            write_study(asked.out / folder_of_split(seed, cuts), results);
          }};
  SplitsResults results =
      cuts ? study_cuts(asked.inputs, asked.options, journal, backend, context.execution, watcher,
                        asked.until, splits, context.processes)
           : study_splits(asked.inputs, asked.seeds, asked.options, journal, backend, context.execution,
                          watcher, asked.until, splits, context.processes);
  results.means.options = with_seeds(asked, cuts ? fmt::format("{}", fmt::join(names, ","))
                                                 : fmt::format("{}", fmt::join(asked.seeds, ",")));
  results.means.conclusions = conclude(results);
  results.means.seconds = seconds_since(begin);
  write_files(asked.out, splits_files(results));
  context.print(to_json(results), splits_markdown(results));
  context.say(fmt::format("{} split{}, {} in {}; written to {}", count, count == 1 ? "" : "s",
                          counted_points(points), duration(results.means.seconds),
                          (asked.out / "report.html").string()));
}

}  // namespace poise::app
