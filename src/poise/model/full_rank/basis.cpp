#include "poise/model/full_rank/basis.hpp"

namespace poise {

void FullRankBasis::prepare_for(const ColumnProblem& problem) {
  std::vector<double> diagonal = problem.l;
  for (double& entry : diagonal) entry /= problem.b_bar;
  const std::uint64_t X = support_fingerprint(problem.X);
  const std::uint64_t features = problem.features.fingerprint();
  if (X == X_ && features == features_ && problem.W->a == a_ && diagonal == diagonal_) return;
  const bool in_place_before = in_place;
  *this = {};
  in_place = in_place_before;
  X_ = X;
  features_ = features;
  a_ = problem.W->a;
  diagonal_ = std::move(diagonal);
}

}  // namespace poise
