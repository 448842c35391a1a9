#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/model/asymmetric/asymmetric.hpp"
#include "poise/model/family.hpp"
#include "poise/model/wmf/wmf.hpp"
#include "poise/train/cost.hpp"
#include "poise/train/update.hpp"

namespace poise {

namespace {

/// A factor over more items, the further rows 0.
Matrix<float> extended(MatrixView<const float> factor, std::int64_t items) {
  Matrix<float> result(items, factor.cols);
  for (std::int64_t i = 0; i < factor.rows; ++i) std::ranges::copy(factor.row(i), result.row(i).begin());
  return result;
}

}  // namespace

std::string why_not_warm(const ModelParameters& parameters, std::int64_t live, CsrView merged) {
  if (parameters.family != Family::wmf && parameters.family != Family::awmf)
    return "it has no factors to begin at";
  const bool rounds =
      !parameters.uniform() || parameters.lambda_exponent != 0 || parameters.start == Start::random;
  if (!rounds) return "unweighted, it has a closed form without rounds";
  const std::int64_t possible = parameters.family == Family::wmf
                                    ? std::min({parameters.rank, merged.rows, merged.cols})
                                    : std::min(parameters.rank, merged.cols);
  if (live < possible)
    return fmt::format("{} of its {} directions are dead, which only a training could revive",
                       possible - live, possible);
  return {};
}

Updated update_low_rank(const Scorer& model, const ModelParameters& parameters, const Merged& merged,
                        const UpdateOptions& options, Backend& backend, const Execution& execution) {
  validate(parameters);
  const CsrView X = merged.dataset.train.view();
  const Weights W = weights_of(parameters, X, execution.threads);
  check_memory(parameters, X, options.memory_limit, W);
  Factors earlier;
  if (const auto* const wmf = dynamic_cast<const Wmf*>(&model)) {
    earlier.V = extended(wmf->V(), X.cols);
  } else {
    const auto& asymmetric = dynamic_cast<const Asymmetric&>(model);
    earlier = {extended(asymmetric.U(), X.cols), extended(asymmetric.V(), X.cols)};
  }
  FitContext context{X, options.memory_limit, backend, execution};
  context.earlier = &earlier;
  Updated updated{.trained = family_of(parameters).fit(parameters, W, context)};
  updated.warm = true;
  return updated;
}

}  // namespace poise
