#pragma once

#include "poise/backend/host_backend.hpp"

namespace poise {

/// OpenBLAS inside tiles of fixed size, OpenMP over the tiles; see backend.hpp.
class CpuBackend final : public HostBackend {
 public:
  explicit CpuBackend(int threads, Observer* observer = nullptr);

  [[nodiscard]] std::string_view name() const override { return to_string(BackendKind::cpu); }
  void gemm(Op op_a, Op op_b, float alpha, MatrixView<const float> a, MatrixView<const float> b, float beta,
            MatrixView<float> c) override;
  void gemm(Op op_a, Op op_b, double alpha, MatrixView<const double> a, MatrixView<const double> b,
            double beta, MatrixView<double> c) override;
  void gemm(Op op_a, Op op_b, double alpha, MatrixView<const float> a, MatrixView<const double> b,
            double beta, MatrixView<double> c) override;
  void gram(CsrView x, std::span<const float> row_weights, MatrixView<float> g) override;
  void gram(CsrView x, std::span<const float> row_weights, MatrixView<double> g) override;
  void spmm(CsrView x, MatrixView<const float> b, MatrixView<float> y) override;
  void sampled_dots(CsrView x, MatrixView<const float> t, MatrixView<const float> v,
                    std::span<float> out) override;
  void sampled_product(CsrView x, std::span<const float> w, std::span<const float> c,
                       MatrixView<const float> t, MatrixView<const float> v, MatrixView<float> s) override;
  void spmm(CsrView x, MatrixView<const double> b, MatrixView<double> y) override;
  [[nodiscard]] SpdInverse invert_spd(MatrixView<float> a) override;
  [[nodiscard]] SpdInverse invert_spd(MatrixView<double> a) override;
  void column_hessian(CsrView x, CsrView columns, std::span<const std::int32_t> items,
                      MatrixView<const float> p, MatrixView<float> out) override;
  void column_hessian(CsrView x, CsrView columns, std::span<const std::int32_t> items,
                      MatrixView<const double> p, MatrixView<double> out) override;
  RankedLists top_k(MatrixView<const float> scores, CsrView excluded, std::int64_t k) override;
};

}  // namespace poise
