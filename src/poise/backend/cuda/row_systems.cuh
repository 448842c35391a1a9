#pragma once

#include "poise/backend/cuda/row_pass.cuh"
#include "poise/backend/row_systems.hpp"

namespace poise::cuda {

/// RowSystems where kernels can read them; null pointers for empty spans.
struct RowSystemsView {
  Sparse entries;
  const float* c;
  const float* w;
  In<float> factors;
  const double* sigma;
  const float* b;
  const double* lambdas;
  double lambda;

  [[nodiscard]] __device__ double b_of(std::int64_t row) const {
    return b == nullptr ? 1.0 : static_cast<double>(b[row]);
  }
  [[nodiscard]] __device__ double lambda_of(std::int64_t row) const {
    return lambdas == nullptr ? lambda : lambdas[row];
  }
};

/// Copies to the GPU what is not there yet.
class StagedRowSystems {
 public:
  StagedRowSystems(CudaBackend& backend, const RowSystems& systems)
      : entries_(backend.sparse(support(systems.entries))),
        factors_(backend, systems.factors),
        c_(backend, systems.c),
        w_(backend, systems.w),
        b_(backend, systems.b),
        sigma_(backend, systems.sigma),
        lambdas_(backend, systems.lambdas),
        lambda_(systems.lambda) {}

  [[nodiscard]] const SparseCopy& entries() const { return *entries_; }
  [[nodiscard]] RowSystemsView view() const {
    return {.entries = entries_->view,
            .c = c_.data(),
            .w = w_.data(),
            .factors = factors_.view(),
            .sigma = sigma_.data(),
            .b = b_.data(),
            .lambdas = lambdas_.data(),
            .lambda = lambda_};
  }

 private:
  static CsrView support(CsrView entries) {
    entries.values = {};
    return entries;
  }

  std::shared_ptr<const SparseCopy> entries_;
  AlignedFactors factors_;
  StagedSpan<const float> c_;
  StagedSpan<const float> w_;
  StagedSpan<const float> b_;
  StagedSpan<const double> sigma_;
  StagedSpan<const double> lambdas_;
  double lambda_;
};

}  // namespace poise::cuda
