#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/model/asymmetric/left_factor.hpp"
#include "poise/model/full_rank/basis.hpp"
#include "poise/model/spectrum/spectrum.hpp"

namespace poise {

/// What fits on one data set are given, and what they leave to each other, which changes no bit of them.
struct FitContext {
  CsrView X;
  std::uint64_t memory_limit;
  Backend& backend;
  Execution execution;
  bool keep = false;  ///< whether a fit leaves matrices of items x items to the next
  std::filesystem::path folder =
      {};                     ///< where the data lie, and eigenpairs beside them; empty: in memory alone
  std::string checksum = {};  ///< of these data
  std::filesystem::path checkpoint =
      {};                           ///< where finished columns go, of models with neighbours; empty: nowhere
  std::string checkpoint_key = {};  ///< all that decides what these are

  FullRankBasis basis = {};   ///< of the last Lambda of full rank
  LeftFactorCache left = {};  ///< of the last asymmetric problem
  Spectrum spectrum = {};     ///< for the last rank
  std::int64_t spectrum_step = 0;

  /// The eigenpairs of X'X that serve a model of this rank.
  const Spectrum& eigenpairs(std::int64_t rank);
  void forget();
};

}  // namespace poise
