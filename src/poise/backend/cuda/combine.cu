#include <algorithm>
#include <vector>

#include "poise/backend/cuda/blocks.cuh"

namespace poise {
namespace cuda {
namespace {

constexpr int most_terms = 4;

template <class T>
struct DeviceTerm {
  const T* x;
  std::int64_t stride;
  double scale;
  const double* rows;
  const double* cols;
};

/// Few terms are arguments of the kernel; more lie in the GPU's memory.
template <class T>
struct DeviceTerms {
  DeviceTerm<T> few[most_terms];
  const DeviceTerm<T>* many;  ///< null where `few` hold them
  int count;
};

template <class T>
__global__ void combine_kernel(DeviceTerms<T> terms, Out<T> out) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= out.cols) return;
  for (std::int64_t k = blockIdx.y; k < out.rows; k += gridDim.y) {
    double sum = 0;
    for (int t = 0; t < terms.count; ++t) {
      const DeviceTerm<T>& term = terms.many != nullptr ? terms.many[t] : terms.few[t];
      double factor = term.scale;
      if (term.rows != nullptr) factor *= term.rows[k];
      if (term.cols != nullptr) factor *= term.cols[j];
      sum += factor * static_cast<double>(term.x[k * term.stride + j]);
    }
    out.data[k * out.stride + j] = static_cast<T>(sum);
  }
}

/// The same of few terms, four columns a thread, where all rows begin at multiples of 16 bytes.
__global__ void combine_four_kernel(DeviceTerms<float> terms, Out<float> out) {
  const std::int64_t j = 4 * (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x);
  if (j >= out.cols) return;
  for (std::int64_t k = blockIdx.y; k < out.rows; k += gridDim.y) {
    double sum[4] = {};
#pragma unroll
    for (int t = 0; t < most_terms; ++t) {
      if (t >= terms.count) break;
      const DeviceTerm<float>& term = terms.few[t];
      const double factor = term.rows == nullptr ? term.scale : term.scale * term.rows[k];
      const float4 four = *reinterpret_cast<const float4*>(term.x + k * term.stride + j);
      const float x[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const double cols = term.cols == nullptr || j + c >= out.cols ? 1.0 : term.cols[j + c];
        sum[c] += factor * cols * static_cast<double>(x[c]);
      }
    }
    float* const to = out.data + k * out.stride + j;
    if (j + 4 <= out.cols) {
      *reinterpret_cast<float4*>(to) = make_float4(static_cast<float>(sum[0]), static_cast<float>(sum[1]),
                                                   static_cast<float>(sum[2]), static_cast<float>(sum[3]));
    } else {
      for (int c = 0; j + c < out.cols; ++c) to[c] = static_cast<float>(sum[c]);
    }
  }
}

bool in_fours(const float* data, std::int64_t stride, std::int64_t cols) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && stride % 4 == 0 && stride >= (cols + 3) / 4 * 4;
}

template <class T>
void combine_terms(CudaBackend& backend, std::span<const Term<T>> terms, Out<T> out) {
  if (out.rows == 0 || out.cols == 0) return;
  std::vector<Array<double>> factors;
  factors.reserve(2 * terms.size());
  std::vector<DeviceTerm<T>> list;
  for (const Term<T>& term : terms) {
    DeviceTerm<T>& device =
        list.emplace_back(DeviceTerm<T>{term.x.data, term.x.stride, term.scale, nullptr, nullptr});
    if (!term.rows.empty()) {
      factors.push_back(backend.upload(term.rows));
      device.rows = factors.back().data();
    }
    if (!term.cols.empty()) {
      factors.push_back(backend.upload(term.cols));
      device.cols = factors.back().data();
    }
  }
  DeviceTerms<T> device_terms{{}, nullptr, static_cast<int>(list.size())};
  Array<DeviceTerm<T>> many;
  if (list.size() <= most_terms) {
    std::ranges::copy(list, device_terms.few);
  } else {
    many = backend.upload(std::span<const DeviceTerm<T>>(list));
    device_terms.many = many.data();
  }
  bool fours = false;
  if constexpr (std::is_same_v<T, float>) {
    fours = many.size() == 0 && in_fours(out.data, out.stride, out.cols);
    for (const Term<T>& term : terms) fours = fours && in_fours(term.x.data, term.x.stride, out.cols);
    if (fours) {
      combine_four_kernel<<<rows_grid(out.rows, (out.cols + 3) / 4), threads, 0, backend.stream()>>>(
          device_terms, out);
    }
  }
  if (!fours)
    combine_kernel<<<rows_grid(out.rows, out.cols), threads, 0, backend.stream()>>>(device_terms, out);
  check_launch("a combination");
}

}  // namespace
}  // namespace cuda

void CudaBackend::combine(std::span<const Term<float>> terms, Out<float> out) {
  cuda::combine_terms(*this, terms, out);
}
void CudaBackend::combine(std::span<const Term<double>> terms, Out<double> out) {
  cuda::combine_terms(*this, terms, out);
}

}  // namespace poise
