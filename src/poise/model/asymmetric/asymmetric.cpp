#include "poise/model/asymmetric/asymmetric.hpp"

#include "poise/backend/resident.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/model/factor_scores.hpp"

namespace poise {
namespace {

class AsymmetricOnBackend final : public BackendScorer {
 public:
  AsymmetricOnBackend(Backend& backend, MatrixView<const float> U, MatrixView<const float> V)
      : backend_(backend), U_(backend, U), V_(backend, V) {}
  void score(CsrView histories, MatrixView<float> scores) override {
    histories.values = {};
    Resident<float> Z(backend_, histories.rows, U_.cols());
    backend_.spmm(histories, std::as_const(U_).view(), Z.view());
    backend_.gemm(Op::none, Op::transpose, 1.0F, std::as_const(Z).view(), std::as_const(V_).view(), 0.0F,
                  scores);
  }

 private:
  Backend& backend_;
  Resident<float> U_;
  Resident<float> V_;
};

}  // namespace

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

std::unique_ptr<BackendScorer> Asymmetric::on(Backend& backend, const Execution& /*execution*/) const {
  return std::make_unique<AsymmetricOnBackend>(backend, U_, V_);
}

double Asymmetric::operations(CsrView histories) const {
  // In float64, which takes twice as long.
  return 4 * static_cast<double>(histories.rows) * static_cast<double>(items()) * static_cast<double>(rank());
}

std::vector<double> Asymmetric::contributions(std::span<const std::int32_t> history,
                                              std::span<const float> /*values*/, std::int32_t item) const {
  std::vector<double> result;
  result.reserve(history.size());
  for (const std::int32_t j : history) result.push_back(dot(U_.row(j), V_.row(item)));
  return result;
}

}  // namespace poise
