#pragma once

#include <cstdint>
#include <vector>

#include "poise/base/parameter.hpp"
#include "poise/model/low_rank.hpp"
#include "poise/model/regularizer.hpp"
#include "poise/weighting/weighting.hpp"

namespace poise {

/// Each is declared in model/NAME/family.cpp.
enum class Family { full_rank, awmf, wmf, popularity };

/// Everything that determines a model, given the data: equal parameters train equal models. A family ignores
/// the members that it does not use. Every member is declared as a parameter (train/parameter_table.hpp).
struct ModelParameters {
  Family family = Family::full_rank;
  Regularizer regularizer = Regularizer::weight_decay;
  bool zero_diagonal = false;
  double dropout = 0;
  std::int64_t neighbours = 0;
  std::int64_t rank = 100;
  double lambda = 100;
  double lambda_exponent = 0;
  double feature_weight = 1;
  WeightingOptions weighting = {};
  double tolerance = 1e-6;
  int rounds = 100;
  double least_decrease = 1e-6;
  Start start = Start::closed_form;
  std::uint64_t seed = 1;

  /// Whether the family has a rank.
  [[nodiscard]] bool low_rank() const;
  /// Whether the weights of the observed entries are 1 for any data.
  [[nodiscard]] bool unweighted() const;
  /// Whether W = 1 for any data.
  [[nodiscard]] bool uniform() const;
};

using ModelParameter = DeclaredParameter<ModelParameters>;

/// The parameters that several families read.
std::vector<ModelParameter> shared_parameters();

/// Copies the options of low-rank fits from the parameters.
void copy_low_rank(const ModelParameters& parameters, std::uint64_t memory_limit, LowRankOptions& options);

}  // namespace poise
