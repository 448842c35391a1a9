#include "poise/train/update.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/model/family.hpp"
#include "poise/model/full_rank/cost.hpp"
#include "poise/model/full_rank/feature_change.hpp"
#include "poise/train/trainer.hpp"

namespace poise {

namespace {

/// The earlier counts, with those of new items as they are now; means stay those of the reference.
TrainingCounts kept_counts(TrainingCounts counts, CsrView merged, int threads) {
  const std::vector<std::int64_t> now = column_counts(merged, threads);
  const auto before = static_cast<std::ptrdiff_t>(counts.item_users.size());
  counts.item_users.insert(counts.item_users.end(), now.begin() + before, now.end());
  return counts;
}

/// The geometric mean of b over the reference, as ColumnProblem has it over all items.
double mean_of_b(const Weights& W, std::int64_t reference) {
  if (W.b.empty()) return 1;
  double sum = 0;
  for (std::int64_t i = 0; i < reference; ++i) sum += std::log(static_cast<double>(W.b[i]));
  return std::exp(sum / static_cast<double>(reference));
}

/// The work of an update of one model, in either precision.
struct Update {
  const FullRank& model;
  const ModelParameters& parameters;
  KeptInverse& kept;
  CsrView before;
  CsrView after;
  std::span<const std::int32_t> changed;
  const FullRankOptions& options;
  const TrainingCounts& counts;
  const FeatureRows& features;  ///< after
  const RowChange& of_columns;
  Backend& backend;
  const Execution& execution;

  /// A's diagonal for new items before any row, l_j / b_bar, and G_jj on top, which the change takes off at
  /// the end: from l_j alone, which may be small, the inverse would lose digits.
  [[nodiscard]] std::vector<double> further(RowChange& of_A, const std::vector<double>& l, double b_bar,
                                            const Weights& W) const {
    std::vector<double> own(after.cols - before.cols, 0.0);
    for (std::int64_t u = 0; u < after.rows && !own.empty(); ++u) {
      for (const std::int32_t i : after.row(u)) {
        if (i >= before.cols) own[i - before.cols] += W.a_of(u);
      }
    }
    const std::vector<double> of_features = features.observed();
    for (std::size_t k = 0; k < own.size() && !features.empty(); ++k) own[k] += of_features[before.cols + k];
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto item = static_cast<std::int32_t>(before.cols + static_cast<std::int64_t>(k));
      if (own[k] > 0) of_A.add_diagonal(item, -own[k]);
      own[k] += l[item] / b_bar;
    }
    return own;
  }

  template <class T>
  TrainedToUpdate run(RowChange& of_A, const Weights& W_after) const {
    const std::vector<double> l = full_rank_lambda(counts, options);
    const double b_bar = mean_of_b(W_after, counts.reference);
    const std::vector<double> diagonal = further(of_A, l, b_bar, W_after);
    Resident<T> A_inverse = extended_inverse<T>(kept, model.dense(), parameters.zero_diagonal, l, diagonal,
                                                backend, execution.threads);
    update_inverse<T>(A_inverse, of_A, backend, execution);
    FitContext context{after, options.memory_limit, backend, execution};
    context.basis.adopt<T>(std::move(A_inverse), kept.condition);
    const FullRankStart start{.l = l,
                              .b_bar = b_bar,
                              .float64 = kept.float64,
                              .change = of_columns,
                              .B = model.dense(),
                              .h = kept.h,
                              .zero_diagonal = parameters.zero_diagonal};
    return continue_training(options, W_after, start, counts, context);
  }
};

/// Error{resources} unless A^-1 and the model fit the limit.
void check_update_memory(CsrView X, const Weights& W, const FullRankOptions& options, bool float64) {
  FullRankOptions limited = options;
  const auto n = static_cast<std::uint64_t>(X.cols);
  const std::uint64_t more = float64 ? n * n * sizeof(double) : 0;
  limited.memory_limit = options.memory_limit > more ? options.memory_limit - more : 0;
  check_full_rank_memory(X, W, limited);
}

}  // namespace

std::string counted_parameter(const ModelParameters& parameters) {
  if (parameters.family != Family::full_rank) return {};
  if (parameters.dropout != 0) return fmt::format("{}", "dropout"_p);
  if (parameters.lambda_exponent != 0) return fmt::format("{}", "lambda-exponent"_p);
  switch (parameters.weighting.scheme) {
    case Scheme::user_oriented:
    case Scheme::item_oriented:
    case Scheme::inverse_popularity:
      return fmt::format("{} {}", "weighting"_p, scheme_name(parameters.weighting.scheme));
    default:
      return {};
  }
}

bool depends_on_counts(const ModelParameters& parameters) { return !counted_parameter(parameters).empty(); }

TrainedToUpdate train_keeping_inverse(const ModelParameters& parameters, CsrView X, CsrView features,
                                      const Weights& W, std::uint64_t memory_limit, Backend& backend,
                                      const Execution& execution) {
  if (parameters.family != Family::full_rank || parameters.neighbours > 0)
    fail(ErrorKind::usage, "{} is for dense full-rank models alone; leave it out", "keep-inverse"_p);
  validate(parameters);
  FitContext context{X, memory_limit, backend, execution};
  return train_to_update(full_rank_options(parameters, memory_limit, features), W, context);
}

Updated train_again(const ModelParameters& parameters, const Merged& merged, std::string reason,
                    const UpdateOptions& options, Backend& backend, const Execution& execution) {
  const CsrView X = merged.dataset.train.view();
  Updated updated{.trained = {}, .refitted = std::move(reason)};
  if (parameters.family != Family::full_rank || parameters.neighbours > 0) {
    Trainer trainer(X, Keep::nothing, options.memory_limit, backend, execution);
    trainer.use_features(merged.dataset.features.rows.view());
    updated.trained = trainer.train(parameters);
    return updated;
  }
  const Weights W = make_weights(X, parameters.weighting, execution.threads);
  TrainedToUpdate result = train_keeping_inverse(parameters, X, merged.dataset.features.rows.view(), W,
                                                 options.memory_limit, backend, execution);
  updated.trained = std::move(result.trained);
  updated.kept = std::move(result.kept);
  return updated;
}

Updated update_full_rank(const FullRank& model, const ModelParameters& parameters, KeptInverse kept,
                         const Dataset& data, const Merged& merged, const UpdateOptions& options,
                         Backend& backend, const Execution& execution) {
  const bool frozen = depends_on_counts(parameters);
  const auto again = [&](std::string reason) {
    kept.A_inverse = {};
    return train_again(parameters, merged, std::move(reason), options, backend, execution);
  };
  if (frozen && !options.keep_lambda)
    return again(fmt::format("with {} every new row changes every column", counted_parameter(parameters)));
  const CsrView before = data.train.view();
  const CsrView after = merged.dataset.train.view();
  const int threads = execution.threads;
  const TrainingCounts counts =
      frozen ? kept_counts(kept.counts, after, threads) : training_counts(after, threads);
  check_values(parameters.weighting.scheme, !after.values.empty());
  const Weights W_before = FoldInWeighting(kept.counts, parameters.weighting).weights(before, threads);
  const Weights W_after = FoldInWeighting(counts, parameters.weighting).weights(after, threads);
  const FullRankOptions fit =
      full_rank_options(parameters, options.memory_limit, merged.dataset.features.rows.view());
  RowChange of_A = row_change(before, W_before, after, W_after, merged.changed, ChangeOf::shared_system);
  RowChange of_columns;
  if (!W_after.c.empty() || !W_after.b.empty())
    of_columns = row_change(before, W_before, after, W_after, merged.changed, ChangeOf::columns);
  const FeatureRows features(fit.features, fit.feature_weight);
  add_feature_change(data.features.rows.view(), fit.features, features.beta(), merged.described,
                     kept.float64 ? FeatureRowsOf::features : FeatureRowsOf::fewer, of_A);
  of_columns.features = of_A.features;
  of_columns.feature_sign = of_A.feature_sign;
  const double operations = update_operations(after.cols, of_A.rank());
  const double refit_operations = inverse_operations(after.cols);
  if (operations >= refit_operations && !frozen)
    return again(fmt::format("{} changed rows take more operations than a new inverse", of_A.rank()));
  check_update_memory(after, W_after, fit, kept.float64);

  Update update{model, parameters, kept,     before,     after,   merged.changed,
                fit,   counts,     features, of_columns, backend, execution};
  std::string missed;
  try {
    TrainedToUpdate result =
        kept.float64 ? update.run<double>(of_A, W_after) : update.run<float>(of_A, W_after);
    if (result.good)
      return {.trained = std::move(result.trained),
              .kept = std::move(result.kept),
              .refitted = {},
              .lambda_kept = frozen,
              .rank = of_A.rank(),
              .operations = operations,
              .refit_operations = refit_operations};
    missed = result.trained.model == nullptr
                 ? fmt::format("the merged data need float64 (condition {:.1e})", result.trained.condition)
                 : fmt::format("rounding has added up: no more than {:.1e} is proven of the worst column",
                               result.trained.certificate.worst_column);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::numerical) throw;
    missed = error.sentence();
  }
  return again(std::move(missed));
}

}  // namespace poise
