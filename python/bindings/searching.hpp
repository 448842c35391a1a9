#pragma once

#include <optional>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "poise/search/search.hpp"

namespace poise::python {

/// The options that searches and studies share.
struct Searching {
  MeasureOptions measure;
  SearchMethod method = SearchMethod::best;
  std::vector<double> lambdas;  ///< the grid's values; none by profiles
  std::vector<double> alphas;
  bool expand = true;
  int refine = 0;
  std::optional<std::size_t> points;
  std::optional<Points::Clock::time_point> until;
};

/// From a dict with metric, metrics, recall_denominator, grid, expand, refine, points and time_limit
/// (seconds) or None.
Searching searching_of(const pybind11::dict& values);

/// Reports points to Execution's observer: one task for the whole search, whose total is the number of points
/// planned so far.
PointWatcher watcher_of(Observer* observer);

}  // namespace poise::python
