#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/comm/processes.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/model/asymmetric/left_factor.hpp"
#include "poise/model/closed_form.hpp"
#include "poise/model/full_rank/basis.hpp"
#include "poise/model/spectrum/spectrum.hpp"

namespace poise {

/// The input of fits on one data set, and results that they share, which change no bit of a model.
struct FitContext {
  CsrView X;
  std::uint64_t memory_limit;
  Backend& backend;
  Execution execution;
  bool keep = false;  ///< whether a fit keeps matrices of items x items for the next
  std::filesystem::path folder =
      {};  ///< the folder of the data and their eigenpairs; empty: they are in memory alone
  std::string checksum = {};  ///< of these data
  std::filesystem::path checkpoint =
      {};                           ///< file for finished columns of models with neighbours; empty: none
  std::string checkpoint_key = {};  ///< identifies the problem that these belong to
  Processes* processes = nullptr;   ///< that make the same fits with a backend of them all (backend/team.hpp)

  CsrView features = {};  ///< of the items; no rows: none
  /// Where the rounds of a low-rank model begin, in place of its usual start: the factors of an earlier
  /// model, items x rank each, 0 for items that it did not know (matrix factorization reads V alone).
  const Factors* earlier = nullptr;

  FullRankBasis basis = {};   ///< of the last Lambda of full rank
  LeftFactorCache left = {};  ///< of the last asymmetric problem
  Spectrum spectrum = {};     ///< for the last rank
  std::int64_t spectrum_step = 0;

  /// The eigenpairs of X'X for a model of this rank.
  const Spectrum& eigenpairs(std::int64_t rank);
  void forget();
};

}  // namespace poise
