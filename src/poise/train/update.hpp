#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"
#include "poise/data/merge.hpp"
#include "poise/model/full_rank/family.hpp"
#include "poise/model/full_rank/full_rank.hpp"
#include "poise/model/full_rank/kept_inverse.hpp"
#include "poise/model/parameters.hpp"
#include "poise/model/trained.hpp"

namespace poise {

struct UpdateOptions {
  bool keep_lambda = false;  ///< Lambda and weights that depend on counts stay those of the last training
  bool refit = false;        ///< the model is trained again, whatever could be done instead
  std::uint64_t memory_limit = 0;
};

/// A model of the merged data.
struct Updated {
  Trained trained = {};
  std::optional<KeptInverse> kept = {};  ///< for the next update; none: of a family that has none
  std::string refitted = {};             ///< why it was trained again, a clause; empty: it was not
  bool lambda_kept = false;              ///< whether the objective has an earlier Lambda or earlier weights
  std::int64_t rank = 0;                 ///< rows by which X' diag(a) X changed
  double operations = 0;                 ///< of changing the inverse by these rows
  double refit_operations = 0;           ///< of a new inverse
  std::int64_t kept_columns = 0;         ///< with neighbours: those that nothing changed
  bool warm = false;                     ///< low rank: whether its rounds began at the earlier factors
};

/// Whether Lambda or the weights depend on the counts of users and items, which every new row changes:
/// dropout, an exponent of lambda, the oriented weightings, and the one by popularity.
bool depends_on_counts(const ModelParameters& parameters);

/// What of these parameters depends on counts, for messages: "the weighting user-oriented".
std::string counted_parameter(const ModelParameters& parameters);

/// A dense full-rank model of the merged data from that of `data`: the inverse changes by the rows that
/// differ and by the features that items got (full_rank/row_change.hpp), unweighted columns follow from it
/// directly, weighted ones by conjugate gradients from the earlier columns; certified as in training, to the
/// same tolerance, on the merged data. Trained again, with the reason, if Lambda or weights depend on counts
/// (unless options.keep_lambda), if that takes fewer operations, or if the result misses the tolerance
/// because rounding has added up. Always the model of a training on the merged data, up to the certificate,
/// unless lambda_kept.
Updated update_full_rank(const FullRank& model, const ModelParameters& parameters, KeptInverse kept,
                         const Dataset& data, const Merged& merged, const UpdateOptions& options,
                         Backend& backend, const Execution& execution);

/// A full-rank model with neighbours of the merged data from that of `data`: columns on whose items nothing
/// changed are taken over once they are proven, the others solved. The bytes of a training on the merged
/// data, which takes the place of this where Lambda or weights depend on counts.
Updated update_neighbours(const FullRank& model, const ModelParameters& parameters, const Dataset& data,
                          const Merged& merged, const UpdateOptions& options, Backend& backend,
                          const Execution& execution);

/// Why the rounds of a low-rank model could not go on from an earlier one with so many live directions, a
/// clause; empty: they can. A closed form has no rounds, and no round revives a direction that is 0.
std::string why_not_warm(const ModelParameters& parameters, std::int64_t live, CsrView merged);

/// A low-rank model of the merged data whose rounds begin at the factors of an earlier one, for which
/// why_not_warm() knows nothing: the first half-round of matrix factorization folds all users in, an item
/// that is new has the factor 0 until the first half-round over items solves for it, and from there on the
/// rounds, when they end and what is certified are those of a training, which may end in another stationary
/// point.
Updated update_low_rank(const Scorer& model, const ModelParameters& parameters, const Merged& merged,
                        const UpdateOptions& options, Backend& backend, const Execution& execution);

/// Of each item of Y, whether an entry of X in it, or its weight, is another in Y: `changed` are the users of
/// X whose row differs, and Y's further rows are new users.
std::vector<char> touched_items(CsrView X, const Weights& before, CsrView Y, const Weights& after,
                                std::span<const std::int32_t> changed);

/// A dense full-rank model trained with what an update of it needs. Error{usage} for other models.
TrainedToUpdate train_keeping_inverse(const ModelParameters& parameters, CsrView X, CsrView features,
                                      const Weights& W, std::uint64_t memory_limit, Backend& backend,
                                      const Execution& execution);

/// Any model trained on the merged data, for this reason; dense full-rank ones with what an update needs.
Updated train_again(const ModelParameters& parameters, const Merged& merged, std::string reason,
                    const UpdateOptions& options, Backend& backend, const Execution& execution);

}  // namespace poise
