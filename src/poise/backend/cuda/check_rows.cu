#include <algorithm>
#include <vector>

#include "poise/backend/cuda/row_systems.cuh"

namespace poise {
namespace cuda {
namespace {

constexpr int threads = 256;

/// Row first + blockIdx.x of v: sum_e (w_e - c_e z_e . v) z_e into a row of `sums`, and what it explains
/// without D.
template <class Pass>
__global__ void __launch_bounds__(32 * Pass::warps)
    residual_kernel(RowSystemsView systems, In<float> v, std::int64_t first, Out<double> out,
                    double* explained) {
  extern __shared__ double shared[];
  const int d = static_cast<int>(systems.factors.cols);
  double* const scratch = shared + Pass::bytes(d) / 8;
  float* const x = reinterpret_cast<float*>(scratch + 32);
  const std::int64_t row = first + blockIdx.x;
  const int padded = static_cast<int>(Pass::padded(d));
  for (int k = static_cast<int>(threadIdx.x); k < padded; k += 32 * Pass::warps)
    x[k] = k < d ? v.data[row * v.stride + k] : 0.0F;
  block_sync<Pass::warps>();
  const double part = Pass::template run<true>(row_entries(systems.entries, systems.c, systems.w, row),
                                               systems.factors, x, shared);
  for (int k = static_cast<int>(threadIdx.x); k < d; k += 32 * Pass::warps)
    out.data[blockIdx.x * out.stride + k] = shared[k];
  const double total = block_total<Pass::warps>(part, scratch);
  if (threadIdx.x == 0) explained[blockIdx.x] = total;
}

template <class Pass>
std::int64_t residual_bytes(std::int64_t d) {
  return Pass::bytes(d) + 8 * 32 + 4 * Pass::padded(d);
}

/// A warp a row: what it explains and r'D^-1 r, in the rotated basis.
__global__ void excess_kernel(RowSystemsView systems, In<double> sums, In<double> y, std::int64_t first,
                              double* explained, double* excess) {
  const std::int64_t k = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;
  if (k >= sums.rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const double b = systems.b_of(first + k);
  const double lambda = systems.lambda_of(first + k);
  double quadratic = 0;
  double left = 0;
  for (std::int64_t j = lane; j < sums.cols; j += 32) {
    const double D = b * systems.sigma[j] + lambda;
    const double value = y.data[k * y.stride + j];
    const double r = sums.data[k * sums.stride + j] - D * value;
    quadratic += D * value * value;
    if (D > 0) left += r * r / D;
  }
  quadratic = warp_total(quadratic);
  left = warp_total(left);
  if (lane == 0) {
    explained[k] -= quadratic;
    excess[k] = left;
  }
}
}  // namespace
}  // namespace cuda

RowsChecked CudaBackend::check_rows(const RowSystems& systems, In<float> v, In<double> E,
                                    In<double> E_inverse) {
  stop_if_asked(observer_);
  if (v.rows == 0) return {};
  const std::int64_t d = v.cols;
  const cuda::StagedRowSystems staged(*this, systems);
  const cuda::RowSystemsView view = staged.view();
  const std::int64_t stride = (d + 15) / 16 * 16;
  const std::int64_t tile =
      std::clamp<std::int64_t>((std::int64_t{1} << 26) / std::max<std::int64_t>(1, stride), 1, v.rows);
  const int blocks = E.rows > 0 ? 4 : 2;
  cuda::Array<double> memory[4];
  Out<double> block[4];
  for (int k = 0; k < blocks; ++k) {
    memory[k] = cuda::Array<double>(*this, tile * stride);
    block[k] = {memory[k].data(), tile, d, stride};
  }
  const cuda::Array<double> explained(*this, v.rows);
  const cuda::Array<double> excess(*this, v.rows);
  for (std::int64_t first = 0; first < v.rows; first += tile) {
    stop_if_asked(observer_);
    const std::int64_t count = std::min(tile, v.rows - first);
    Out<double> sums = block[0].block(0, count);
    Out<double> y = block[1].block(0, count);
    const auto residual = [&](auto pass) {
      using Pass = decltype(pass);
      cuda::launch("checking rows", cuda::residual_kernel<Pass>, count, 32 * Pass::warps,
                   cuda::residual_bytes<Pass>(d), stream(), view, v, first, sums, explained.data() + first);
    };
    if (!cuda::with_narrow_pass<4>(d, residual)) residual(cuda::WidePass<8>());
    copy(v.block(first, count), y);
    if (E.rows > 0) {
      gemm(Op::none, Op::none, 1.0, sums, E, 0.0, block[2].block(0, count));
      gemm(Op::none, Op::transpose, 1.0, y, E_inverse, 0.0, block[3].block(0, count));
      sums = block[2].block(0, count);
      y = block[3].block(0, count);
    }
    cuda::excess_kernel<<<cuda::grid(count * 32, cuda::threads), cuda::threads, 0, stream()>>>(
        view, sums, y, first, explained.data() + first, excess.data() + first);
    cuda::check_launch("checking rows");
  }
  std::vector<double> explained_of(v.rows);
  std::vector<double> excess_of(v.rows);
  download(explained, std::span(explained_of));
  download(excess, std::span(excess_of));
  RowsChecked checked;
  for (std::int64_t i = 0; i < v.rows; ++i) {
    checked.explained += explained_of[i];
    checked.excess += excess_of[i] / systems.lowest;
  }
  return checked;
}

}  // namespace poise
