#include "searching.hpp"

#include <pybind11/stl.h>

#include "poise/base/error.hpp"
#include "poise/search/search.hpp"

namespace py = pybind11;

namespace poise::python {

Searching searching_of(const py::dict& values) {
  const auto text = [&](const char* name) { return py::cast<std::string>(values[name]); };
  const std::string denominator = text("recall_denominator");
  if (denominator != "min" && denominator != "targets")
    fail(ErrorKind::usage, "recall_denominator is min or targets, not '{}'", denominator);
  const std::string grid = text("grid");
  if (grid != "best" && grid != "paper" && grid != "extended")
    fail(ErrorKind::usage, "grid is best, paper or extended, not '{}'", grid);
  const bool best = grid == "best";
  Searching searching{
      .measure = {.metrics = parse_metrics(text("metrics")),
                  .choice = parse_aim(text("metric")),
                  .denominator = denominator == "min" ? RecallDenominator::min : RecallDenominator::targets,
                  .race = py::cast<bool>(values["race"])},
      .method = best ? SearchMethod::best : SearchMethod::grid,
      .lambdas = best ? std::vector<double>{} : paper_lambdas,
      .alphas = best                 ? std::vector<double>{}
                : grid == "extended" ? extended_alphas
                                     : paper_alphas,
      .expand = py::cast<bool>(values["expand"]),
      .refine = py::cast<int>(values["refine"]),
      .points = py::cast<std::optional<std::size_t>>(values["points"]),
      .until = {}};
  if (searching.refine < 0 || searching.refine > 20)
    fail(ErrorKind::usage, "refine {} is out of range: a whole number from 0 to 20 is needed",
         searching.refine);
  if (const auto seconds = py::cast<std::optional<double>>(values["time_limit"]))
    searching.until = Points::Clock::now() + std::chrono::duration_cast<Points::Clock::duration>(
                                                 std::chrono::duration<double>(*seconds));
  return searching;
}

PointWatcher watcher_of(Observer* observer) {
  return {.trained = [observer](const PointResult& /*result*/, std::size_t left, double /*seconds*/) {
    observer->start("searching", left + 1, "points");
    observer->advance(1);
    observer->finish();
  }};
}

}  // namespace poise::python
