#pragma once

#include <optional>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "poise/search/search.hpp"

namespace poise::python {

/// What searches and studies are asked alike.
struct Searching {
  MeasureOptions measure;
  SearchMethod method = SearchMethod::best;
  std::vector<double> lambdas;  ///< of the grid; none by profiles
  std::vector<double> alphas;
  bool expand = true;
  int refine = 0;
  std::optional<std::size_t> points;
  std::optional<Points::Clock::time_point> until;
};

/// From a dict with metric, metrics, recall_denominator, grid, expand, refine, points and time_limit
/// (seconds) or None.
Searching searching_of(const pybind11::dict& values);

/// Tells Execution's observer of points: one task for the whole search, whose length is known as far as it is
/// planned.
PointWatcher watcher_of(Observer* observer);

}  // namespace poise::python
