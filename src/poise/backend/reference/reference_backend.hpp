#pragma once

#include "poise/backend/backend.hpp"

namespace poise {

/// The primitives as their equations read: what every other backend is tested against.
class ReferenceBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return to_string(BackendKind::reference); }
  void gemm(Op op_a, Op op_b, float alpha, MatrixView<const float> a, MatrixView<const float> b, float beta,
            MatrixView<float> c) override;
  void gemm(Op op_a, Op op_b, double alpha, MatrixView<const double> a, MatrixView<const double> b,
            double beta, MatrixView<double> c) override;
  void gram(CsrView x, std::span<const float> row_weights, MatrixView<float> g) override;
  void spmm(CsrView x, MatrixView<const float> b, MatrixView<float> y) override;
  RankedLists top_k(MatrixView<const float> scores, CsrView excluded, std::int64_t k) override;
};

}  // namespace poise
