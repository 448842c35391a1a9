#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "poise/model/low_rank.hpp"
#include "poise/model/scorer.hpp"
#include "poise/solver/certificate.hpp"

namespace poise {

/// A trained model and its report; for popularity, the model alone.
struct Trained {
  std::shared_ptr<const Scorer> model;
  double objective = 0;
  double observed_weight = 0;
  Certificate certificate = {};
  std::int64_t iterations = 0;
  std::int64_t rounds = 0;
  bool converged = true;
  std::map<std::string, double> seconds = {};  ///< by phase

  // Full rank only:
  double objective_error = 0;
  double condition = 0;
  bool float64 = false;
  bool tensor_cores = false;
  std::int64_t direct_columns = 0;
  std::int64_t iterated_columns = 0;
  std::vector<double> worst_column = {};  ///< see FullRankFit
  std::int64_t resumed_columns = 0;  ///< with neighbours: those that a checkpoint or an earlier model had

  // Low rank only:
  std::int64_t live_directions = 0;
  std::vector<LowRankRound> trace = {};
};

}  // namespace poise
