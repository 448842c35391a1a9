#include "poise/model/asymmetric.hpp"

#include "poise/linalg/vector.hpp"
#include "poise/model/factor_scores.hpp"

namespace poise {

Asymmetric::Asymmetric(Matrix<float> U, Matrix<float> V) {
  const auto both =
      std::make_shared<const std::pair<Matrix<float>, Matrix<float>>>(std::move(U), std::move(V));
  *this = Asymmetric(both->first.view(), both->second.view(), both);
}

void Asymmetric::score(CsrView histories, std::int64_t first, MatrixView<float> scores) const {
  Matrix<double> Z(scores.rows, rank());
  for (std::int64_t k = 0; k < scores.rows; ++k) {
    const auto z = Z.row(k);
    for (const std::int32_t item : histories.row(first + k)) {
      const auto row = U_.row(item);
      for (std::size_t c = 0; c < z.size(); ++c) z[c] += row[c];
    }
  }
  factor_scores(Z.view(), V_, scores);
}

std::vector<double> Asymmetric::contributions(std::span<const std::int32_t> history,
                                              std::span<const float> /*values*/, std::int32_t item) const {
  std::vector<double> result;
  result.reserve(history.size());
  for (const std::int32_t j : history) result.push_back(dot(U_.row(j), V_.row(item)));
  return result;
}

}  // namespace poise
