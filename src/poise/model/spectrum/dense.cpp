#include "poise/backend/resident.hpp"
#include "poise/model/spectrum/routes.hpp"

namespace poise {

EigenPairs dense_top_pairs(CsrView X, std::span<const float> row_weights, std::int64_t count,
                           Backend& backend, const Execution& execution) {
  Resident<double> G(backend, X.cols, X.cols);
  backend.gram(X, row_weights, G.view());
  stop_if_asked(execution.observer);
  return backend.symmetric_eigenpairs(G.view(), count);
}

}  // namespace poise
