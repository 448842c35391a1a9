#include "poise/solver/feature_residual.hpp"

#include <vector>

#include "poise/backend/resident.hpp"

namespace poise {

void add_feature_residuals(const ColumnProblem& problem, std::span<const std::int32_t> items,
                           MatrixView<const float> beta, MatrixView<double> rho,
                           std::span<ColumnFigures> figures, Backend& backend) {
  const FeatureRows& features = problem.features;
  if (features.empty()) return;
  Matrix<double> q(problem.items(), beta.rows);
  for (std::int64_t k = 0; k < beta.rows; ++k) {
    for (std::int64_t j = 0; j < q.rows(); ++j) q(j, k) = -static_cast<double>(beta(k, j));
    q(items[k], k) += 1;
  }
  Resident<double> product(backend, q.rows(), q.cols());
  features.add_product(Lent(backend, q).view(), product.view(), backend);
  const Matrix<double> FtFq = product.take();
  const std::vector<double>& observed = problem.of_features;
  for (std::int64_t k = 0; k < beta.rows; ++k) {
    const double b = problem.W->b_of(items[k]);
    double form = 0;
    for (std::int64_t j = 0; j < q.rows(); ++j) {
      form += q(j, k) * FtFq(j, k);
      if (rho.rows > 0) rho(k, j) += b * FtFq(j, k);
    }
    figures[k].observed += b * observed[items[k]];
    figures[k].objective += b * form;
  }
}

}  // namespace poise
