#pragma once

#include <optional>
#include <string>

#include "poise/search/points.hpp"

#include "progress.hpp"

namespace poise::app {

/// "rank 10, linear": the parameters of a point besides lambda and alpha; empty if all are the defaults.
std::string setting_name(const ModelParameters& parameters);
/// "rank 10, lambda 100, alpha 2".
std::string point_name(const ModelParameters& parameters);
/// "1 point", "25 points".
std::string counted_points(std::size_t count);

/// Shows the state of a search while it exists: how many points are done and left, the time left, and the
/// best so far. Points without a model are reported one by one.
class PointProgress {
 public:
  PointProgress(TerminalObserver& observer, const Metric& choice) : observer_(observer), choice_(choice) {}
  PointProgress(const PointProgress&) = delete;
  PointProgress& operator=(const PointProgress&) = delete;
  ~PointProgress() { observer_.clear_state(); }

  /// Begins other data: the best point of the last data does not apply to them.
  void begin_data(const std::string& name);
  /// Sets the model of the next points.
  void begin_model(const std::string& name);
  /// One point is done, `left` are not and may take `seconds`.
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
