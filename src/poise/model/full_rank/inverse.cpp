#include "poise/model/full_rank/inverse.hpp"

#include "poise/linalg/precision.hpp"
#include "poise/linalg/vector.hpp"

namespace poise {

namespace {

/// G in the place of A^-1; if gathers are slow by way of the basis, which keeps it for residuals.
template <class T>
void fill_gram(const ColumnProblem& problem, FullRankBasis& basis, Backend& backend, Out<T> to) {
  if (backend.traits().cheap_gathers) {
    backend.gram(problem.X, problem.W->a, to);
    return;
  }
  Resident<double>& G = basis.gram();
  if (G.rows() != to.rows) {
    G = Resident<double>(backend, to.rows, to.rows);
    backend.gram(problem.X, problem.W->a, G.view());
  }
  backend.copy(In<double>(G.view()), to);
}

}  // namespace

template <class T>
bool invert_shared_system(const ColumnProblem& problem, FullRankBasis& basis, Backend& backend,
                          Stopwatch& watch, double& condition) {
  std::optional<SpdInverse>& outcome = basis.inverse<T>().outcome;
  Resident<T>& inverse = basis.inverse<T>().matrix;
  const std::int64_t n = problem.items();
  const auto good = [&] {
    return outcome->positive_definite &&
           (!std::is_same_v<T, float> || outcome->condition <= float32_condition);
  };
  if (!outcome || (good() && inverse.rows() != n)) {
    inverse = Resident<T>(backend, n, n);
    fill_gram(problem, basis, backend, inverse.view());
    const std::vector<std::int32_t> all = numbers_from(0, n);
    std::vector<double> diagonal(n);
    backend.get_entries(In<T>(inverse.view()), all, all, diagonal);
    for (std::int64_t i = 0; i < n; ++i) diagonal[i] += problem.l[i] / problem.b_bar;
    backend.set_entries(inverse.view(), all, diagonal);
    watch.book("gram");
    outcome = backend.invert_spd(inverse.view());
    watch.book("inverse");
  }
  condition = outcome->condition;
  if (!good()) inverse = {};
  return good();
}

template bool invert_shared_system<float>(const ColumnProblem&, FullRankBasis&, Backend&, Stopwatch&,
                                          double&);
template bool invert_shared_system<double>(const ColumnProblem&, FullRankBasis&, Backend&, Stopwatch&,
                                           double&);

}  // namespace poise
