#include "poise/model/asymmetric/asymmetric.hpp"

#include "poise/backend/resident.hpp"
#include "poise/linalg/csr.hpp"
#include "poise/linalg/vector.hpp"

namespace poise {

Asymmetric::Asymmetric(Matrix<float> U, Matrix<float> V) {
  const auto both =
      std::make_shared<const std::pair<Matrix<float>, Matrix<float>>>(std::move(U), std::move(V));
  *this = Asymmetric(both->first.view(), both->second.view(), both);
}

ScoreRows Asymmetric::on(Backend& backend, const Execution& /*execution*/) const {
  return [&backend, U = Lent(backend, U_), V = Lent(backend, V_)](const UserRows& histories,
                                                                  std::int64_t first, Out<float> scores) {
    Resident<float> Z(backend, scores.rows, V.view().cols);
    Csr room;
    backend.spmm(summed_rows(histories.block(first, scores.rows), room), U.view(), Z.view());
    backend.factor_scores(readable(Z), V.view(), scores);
  };
}

double Asymmetric::operations(CsrView histories) const {
  // In float64, which takes twice as long.
  return 4 * static_cast<double>(histories.rows) * static_cast<double>(items()) * static_cast<double>(rank());
}

std::vector<double> Asymmetric::contributions(std::span<const std::int32_t> history,
                                              std::span<const float> /*values*/,
                                              std::span<const std::int32_t> /*disliked*/,
                                              std::int32_t item) const {
  std::vector<double> result;
  result.reserve(history.size());
  for (const std::int32_t j : history) result.push_back(dot(U_.row(j), V_.row(item)));
  return result;
}

void Asymmetric::similarities(std::span<const std::int32_t> items, MatrixView<float> near) const {
  for (std::size_t a = 0; a < items.size(); ++a) {
    const auto row = near.row(static_cast<std::int64_t>(a));
    for (std::size_t b = 0; b < items.size(); ++b)
      row[b] = static_cast<float>(dot(U_.row(items[a]), V_.row(items[b])));
  }
}

}  // namespace poise
