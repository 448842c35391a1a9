#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "poise/model/asymmetric_fit.hpp"
#include "poise/model/full_rank_fit.hpp"
#include "poise/model/wmf_fit.hpp"
#include "poise/weighting/weighting.hpp"

namespace poise {

enum class Family { full_rank, awmf, wmf, popularity };

/// "full-rank", "awmf", "wmf", "popularity"; Error{usage} for anything else.
Family parse_family(std::string_view name);
std::string_view family_name(Family family);

/// All that decides what a model is, given the data: equal parameters train equal models. What a family has
/// no use for is not read.
struct ModelParameters {
  Family family = Family::full_rank;
  Regularizer regularizer = Regularizer::weight_decay;  ///< of awmf
  bool zero_diagonal = false;                           ///< of full rank
  double dropout = 0;                                   ///< of full rank
  std::int64_t rank = 100;                              ///< of awmf and wmf, as what follows
  double lambda = 100;
  double lambda_exponent = 0;  ///< of full rank and wmf
  WeightingOptions weighting = {};
  double tolerance = 1e-6;
  int rounds = 100;
  double least_decrease = 1e-6;
  Start start = Start::closed_form;
  std::uint64_t seed = 1;

  [[nodiscard]] bool low_rank() const { return family == Family::awmf || family == Family::wmf; }
  [[nodiscard]] bool has_lambda_exponent() const {
    return family == Family::full_rank || family == Family::wmf;
  }
  /// W = 1, whatever the data.
  [[nodiscard]] bool unweighted() const {
    return family == Family::popularity || weighting.scheme == Scheme::none ||
           (weighting.scheme == Scheme::constant && weighting.alpha == 1) ||
           ((weighting.scheme == Scheme::linear || weighting.scheme == Scheme::log) && weighting.alpha == 0);
  }
};

/// Throws Error{usage} for parameters out of range.
void validate(const ModelParameters& parameters);

/// Those that the family reads, by flag name: what a model file and a journal keep.
std::map<std::string, std::string> option_texts(const ModelParameters& parameters);

/// What option_texts wrote of a full-rank model; Error{input} where that is not it.
ModelParameters full_rank_parameters(const std::map<std::string, std::string>& texts);

FullRankOptions full_rank_options(const ModelParameters& parameters, std::uint64_t memory_limit);
AsymmetricOptions asymmetric_options(const ModelParameters& parameters, std::uint64_t memory_limit);
WmfOptions wmf_options(const ModelParameters& parameters, std::uint64_t memory_limit);

}  // namespace poise
