#include "poise/model/parameters.hpp"

namespace poise {

std::vector<ModelParameter> shared_parameters() {
  constexpr double most = 1'000'000;
  return {
      {{.id = "lambda", .keyword = "regularization", .help = "L2 regularization", .axis = SearchAxis::listed},
       in_member(&ModelParameters::lambda)},
      {{.id = "rank",
        .keyword = "factors",
        .help = "columns of U and V",
        .least = 1,
        .most = most,
        .axis = SearchAxis::listed},
       in_member(&ModelParameters::rank)},
      {{.id = "rounds", .keyword = "iterations", .help = "most alternating rounds", .least = 0, .most = most},
       in_member(&ModelParameters::rounds)},
      {{.id = "least-decrease",
        .help = "a round that lowers the objective by less than this part of it is the last",
        .least = 0},
       in_member(&ModelParameters::least_decrease)},
      {{.id = "start",
        .help = "begin at closed-form, the unweighted optimum, or random",
        .names = {"closed-form", "random"}},
       in_member(&ModelParameters::start)},
      {{.id = "seed", .keyword = "random_state", .help = "seed of a random start", .of_every_command = true},
       in_member(&ModelParameters::seed)},
      {{.id = "tolerance",
        .help = "Bound on certificate.worst_column; of low-rank models, on their final inner solves",
        .least = 0,
        .above_least = true},
       in_member(&ModelParameters::tolerance)}};
}

void copy_low_rank(const ModelParameters& parameters, std::uint64_t memory_limit, LowRankOptions& options) {
  options.rank = parameters.rank;
  options.lambda = parameters.lambda;
  options.rounds = parameters.rounds;
  options.tolerance = parameters.tolerance;
  options.least_decrease = parameters.least_decrease;
  options.start = parameters.start;
  options.seed = parameters.seed;
  options.memory_limit = memory_limit;
}

}  // namespace poise
