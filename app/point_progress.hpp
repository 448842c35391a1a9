#pragma once

#include <optional>
#include <string>

#include "poise/search/points.hpp"

#include "progress.hpp"

namespace poise::app {

/// "rank 10, linear": what a point has beside lambda and alpha; empty where all of it is the default.
std::string setting_name(const ModelParameters& parameters);
/// "rank 10, lambda 100, alpha 2".
std::string point_name(const ModelParameters& parameters);
/// "1 point", "25 points".
std::string counted_points(std::size_t count);

/// Shows where a search stands while it lives: how many points are done and left, how long these may take,
/// and the best so far. Points without a model are said one by one.
class PointProgress {
 public:
  PointProgress(TerminalObserver& observer, const Metric& choice) : observer_(observer), choice_(choice) {}
  PointProgress(const PointProgress&) = delete;
  PointProgress& operator=(const PointProgress&) = delete;
  ~PointProgress() { observer_.clear_state(); }

  /// Other data: what was best on the last says nothing about them.
  void begin_data(const std::string& name);
  /// What kind of model the next points are.
  void begin_model(const std::string& name);
  /// A point is done, `left` are not and may take `seconds`.
  void trained(const PointResult& result, std::size_t left, double seconds);

 private:
  struct Best {
    double score;
    std::string name;
  };

  TerminalObserver& observer_;
  Metric choice_;
  std::string data_;
  std::string model_;
  std::size_t done_ = 0;
  std::optional<Best> best_;
};

}  // namespace poise::app
