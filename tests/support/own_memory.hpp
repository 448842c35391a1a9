#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>

#include "poise/backend/cpu/cpu_backend.hpp"

#include "support/tested_backend.hpp"

namespace poise::testing {

/// The processor with the traits of a GPU: matrices lie in memory of its own, and a primitive that is given
/// another one throws. So the routes of a GPU run on machines that have none.
class OwnMemory final : public CpuBackend {
 public:
  explicit OwnMemory(int threads, std::uint64_t memory = std::uint64_t{1} << 30U)
      : CpuBackend(threads), memory_(memory) {}

  [[nodiscard]] BackendTraits traits() const override {
    return {.cheap_gathers = false,
            .cheap_decompositions = false,
            .leaves_processor_free = true,
            .wide_blocks = true,
            .caches_slices = false,
            .own_memory = true};
  }
  [[nodiscard]] std::uint64_t memory_bytes() const override { return memory_; }
  [[nodiscard]] void* allocate(std::uint64_t bytes) override {
    void* const memory = CpuBackend::allocate(bytes);
    allocated_[static_cast<const char*>(memory)] = bytes;
    return memory;
  }
  void release(void* memory) noexcept override {
    allocated_.erase(static_cast<const char*>(memory));
    CpuBackend::release(memory);
  }

  void upload(MatrixView<const float> from, Out<float> to) override { put(from, to); }
  void upload(MatrixView<const double> from, Out<double> to) override { put(from, to); }
  void download(In<float> from, MatrixView<float> to) override { get(from, to); }
  void download(In<double> from, MatrixView<double> to) override { get(from, to); }
  void copy(In<float> from, Out<float> to) override { moved(from, to); }
  void copy(In<double> from, Out<double> to) override { moved(from, to); }
  void copy(In<float> from, Out<double> to) override { moved(from, to); }
  void copy(In<double> from, Out<float> to) override { moved(from, to); }

  void combine(std::span<const Term<float>> terms, Out<float> out) override { combined(terms, out); }
  void combine(std::span<const Term<double>> terms, Out<double> out) override { combined(terms, out); }
  void copy_rows(In<float> from, Indices rows, Out<float> to, Indices to_rows) override {
    look(from, to);
    CpuBackend::copy_rows(from, rows, to, to_rows);
  }
  void copy_rows(In<double> from, Indices rows, Out<double> to, Indices to_rows) override {
    look(from, to);
    CpuBackend::copy_rows(from, rows, to, to_rows);
  }
  void gemm(Op op_a, Op op_b, float alpha, In<float> a, In<float> b, float beta, Out<float> c) override {
    multiplied(op_a, op_b, alpha, a, b, beta, c);
  }
  void gemm(Op op_a, Op op_b, double alpha, In<double> a, In<double> b, double beta, Out<double> c) override {
    multiplied(op_a, op_b, alpha, a, b, beta, c);
  }
  void gemm(Op op_a, Op op_b, double alpha, In<float> a, In<double> b, double beta, Out<double> c) override {
    multiplied(op_a, op_b, alpha, a, b, beta, c);
  }
  void spmm(CsrView x, In<float> b, Out<float> y) override {
    look(b, y);
    CpuBackend::spmm(x, b, y);
  }
  void spmm(CsrView x, In<double> b, Out<double> y) override {
    look(b, y);
    CpuBackend::spmm(x, b, y);
  }
  void column_hessian(CsrView x, CsrView columns, Indices items, In<float> p, Out<float> out) override {
    look(p, out);
    CpuBackend::column_hessian(x, columns, items, p, out);
  }
  void column_hessian(CsrView x, CsrView columns, Indices items, In<double> p, Out<double> out) override {
    look(p, out);
    CpuBackend::column_hessian(x, columns, items, p, out);
  }

 private:
  template <class T>
  void look_at(DeviceView<T> matrix) const {
    if (matrix.rows == 0 || matrix.cols == 0) return;
    const auto* const first = reinterpret_cast<const char*>(matrix.data);
    const auto* const last =
        reinterpret_cast<const char*>(matrix.data + (matrix.rows - 1) * matrix.stride + matrix.cols);
    auto found = allocated_.upper_bound(first);
    if (found == allocated_.begin() || last > (--found)->first + found->second)
      throw std::logic_error("a matrix outside of the backend's memory");
  }
  template <class... Views>
  void look(const Views&... views) const {
    (look_at(views), ...);
  }
  template <class T>
  void put(MatrixView<const T> from, Out<T> to) {
    look(to);
    CpuBackend::upload(from, to);
  }
  template <class T>
  void get(In<T> from, MatrixView<T> to) {
    look(from);
    CpuBackend::download(from, to);
  }
  template <class From, class To>
  void moved(In<From> from, Out<To> to) {
    look(from, to);
    CpuBackend::copy(from, to);
  }
  template <class T>
  void combined(std::span<const Term<T>> terms, Out<T> out) {
    for (const Term<T>& term : terms) look(term.x);
    look(out);
    CpuBackend::combine(terms, out);
  }
  template <class A, class T>
  void multiplied(Op op_a, Op op_b, T alpha, In<A> a, In<T> b, T beta, Out<T> c) {
    look(a, b, c);
    CpuBackend::gemm(op_a, op_b, alpha, a, b, beta, c);
  }

  std::uint64_t memory_;
  std::map<const char*, std::uint64_t> allocated_;
};

/// The processor as it is, or with the traits of a GPU; or a GPU, with POISE_TEST_DEVICE=cuda.
inline std::unique_ptr<Backend> processor(bool own_memory) {
  if (own_memory && tested_kind() == BackendKind::cuda) return tested_backend(1);
  if (own_memory) return std::make_unique<OwnMemory>(1);
  return make_backend(BackendKind::cpu, 1);
}

}  // namespace poise::testing
