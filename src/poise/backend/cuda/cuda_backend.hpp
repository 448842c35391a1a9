#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/cuda/resources.hpp"

namespace poise {

class CudaBackend;

namespace cuda {

/// A sparse matrix on the GPU, as kernels see it: row r holds entries offsets[r] up to offsets[r + 1].
struct Sparse {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  const std::int64_t* offsets = nullptr;
  const std::int32_t* indices = nullptr;
  const float* values = nullptr;  ///< null: all 1
  /// Rows cut into pieces of at most `piece_entries` entries, in order, so that no block works for long:
  /// piece p is row piece_rows[p], from entry piece_begins[p] of it. Without piece_rows every row is one
  /// piece.
  std::int64_t pieces = 0;
  const std::int32_t* piece_rows = nullptr;
  const std::int64_t* piece_begins = nullptr;
  /// Of rows with several pieces, the first slot in which a piece leaves its sums; -1 for a row's only piece.
  const std::int32_t* piece_slots = nullptr;
  std::int64_t slots = 0;
  std::int64_t cut_rows = 0;
  const std::int32_t* cut_row = nullptr;         ///< the rows with several pieces
  const std::int32_t* cut_first_slot = nullptr;  ///< and where their slots begin; one more at the end
};
constexpr std::int64_t piece_entries = 2048;

/// The rows of a sparse matrix, long ones first, cut into classes by length; see row_pass.cuh.
struct RowClasses {
  static constexpr int classes = 3;
  Array<std::int32_t> rows;
  std::int64_t begin[classes + 1] = {};  ///< class k is rows[begin[k] .. begin[k + 1])
};

/// The owner of a Sparse's memory.
struct SparseCopy {
  Sparse view;
  Array<std::int64_t> offsets;
  Array<std::int32_t> indices;
  Array<float> values;
  Array<std::int32_t> piece_rows;
  Array<std::int64_t> piece_begins;
  Array<std::int32_t> piece_slots;
  Array<std::int32_t> cut_row;
  Array<std::int32_t> cut_first_slot;
  mutable std::shared_ptr<const RowClasses> classes;  ///< made at first use
  mutable Array<std::uint16_t> narrow;                ///< the indices in 16 bits, made at first use
};

}  // namespace cuda

/// cuBLAS, cuSOLVER and kernels on one GPU; see backend.hpp. Sums are added in fixed orders: no
/// floating-point atomics.
class CudaBackend final : public Backend, public cuda::Resources {
 public:
  CudaBackend(int threads, Observer* observer) : Resources(threads), observer_(observer) {}

  [[nodiscard]] std::string_view name() const override { return to_string(BackendKind::cuda); }
  [[nodiscard]] BackendTraits traits() const override {
    return {.cheap_gathers = false,
            .cheap_decompositions = false,
            .leaves_processor_free = true,
            .wide_blocks = true,
            .caches_slices = false,
            .own_memory = true};
  }
  [[nodiscard]] std::uint64_t memory_bytes() const override { return total_bytes(); }
  [[nodiscard]] void* allocate(std::uint64_t bytes) override { return Resources::allocate(bytes); }
  void release(void* memory) noexcept override { Resources::release(memory); }
  void copy(In<float> from, Out<float> to) override;
  void copy(In<double> from, Out<double> to) override;
  void copy(In<float> from, Out<double> to) override;
  void copy(In<double> from, Out<float> to) override;
  using Resources::download;
  using Resources::upload;
  void upload(MatrixView<const float> from, Out<float> to) override;
  void upload(MatrixView<const double> from, Out<double> to) override;
  void download(In<float> from, MatrixView<float> to) override;
  void download(In<double> from, MatrixView<double> to) override;
  [[nodiscard]] Pin pin(CsrView x) override;
  [[nodiscard]] Pin pin(std::span<const float> x) override;

  void combine(std::span<const Term<float>> terms, Out<float> out) override;
  void combine(std::span<const Term<double>> terms, Out<double> out) override;
  void add_rows(Numbers factors, In<float> x, Out<float> y, Indices rows) override;
  void add_rows(Numbers factors, In<double> x, Out<double> y, Indices rows) override;
  void row_dots(In<float> x, In<float> y, std::span<double> out) override;
  void row_dots(In<double> x, In<double> y, std::span<double> out) override;
  void copy_rows(In<float> from, Indices from_rows, Out<float> to, Indices to_rows) override;
  void copy_rows(In<double> from, Indices from_rows, Out<double> to, Indices to_rows) override;
  void get_entries(In<float> x, Indices rows, Indices cols, std::span<double> out) override;
  void get_entries(In<double> x, Indices rows, Indices cols, std::span<double> out) override;
  void set_entries(Out<float> x, Indices cols, Numbers values) override;
  void set_entries(Out<double> x, Indices cols, Numbers values) override;
  void transpose_in_place(Out<float> a) override;

  void gemm(Op op_a, Op op_b, float alpha, In<float> a, In<float> b, float beta, Out<float> c) override;
  void gemm(Op op_a, Op op_b, double alpha, In<double> a, In<double> b, double beta, Out<double> c) override;
  void gemm(Op op_a, Op op_b, double alpha, In<float> a, In<double> b, double beta, Out<double> c) override;
  void multiply_symmetric(In<float> r, In<float> a, Out<float> y) override;
  [[nodiscard]] bool splits_products(std::int64_t size) const override;
  void gram(CsrView x, std::span<const float> row_weights, Out<float> g) override;
  void gram(CsrView x, std::span<const float> row_weights, Out<double> g) override;
  void spmm(CsrView x, In<float> b, Out<float> y) override;
  void spmm(CsrView x, In<double> b, Out<double> y) override;
  void spmm(CsrView x, CsrView b, Out<float> y) override;
  void factor_scores(In<float> z, In<float> v, Out<float> y) override;
  void sampled_dots(CsrView x, In<float> t, In<float> v, std::span<float> out) override;
  void sampled_product(CsrView x, std::span<const float> w, std::span<const float> c, In<float> t,
                       In<float> v, Out<float> s) override;
  [[nodiscard]] double triple_dot(std::span<const float> c, std::span<const float> x,
                                  std::span<const float> y) override;
  [[nodiscard]] Matrix<double> factor_gram(In<float> z, std::span<const float> a) override;
  [[nodiscard]] Matrix<double> factor_product(In<float> y, std::span<const float> a, In<float> z) override;
  void combine_rows(In<float> z, const Matrix<double>& a, Out<float> y, const Matrix<double>& b) override;
  void divide_by_products(Out<float> x, Numbers s, Numbers t, double shift) override;
  RowsSolved solve_rows(const RowSystems& systems, Out<float> y, RowTolerance tolerance,
                        RowRoute route) override;
  [[nodiscard]] RowsChecked check_rows(const RowSystems& systems, In<float> v, In<double> E,
                                       In<double> E_inverse) override;
  using Backend::symmetric_eigenpairs;
  [[nodiscard]] EigenPairs symmetric_eigenpairs(Out<double> a, std::int64_t count) override;
  [[nodiscard]] EigenPairs symmetric_eigenpairs(Out<float> a, std::int64_t count) override;
  [[nodiscard]] SpdInverse invert_spd(Out<float> a) override;
  [[nodiscard]] SpdInverse invert_spd(Out<double> a) override;
  void column_hessian(CsrView x, CsrView columns, Indices items, In<float> p, Out<float> out) override;
  void column_hessian(CsrView x, CsrView columns, Indices items, In<double> p, Out<double> out) override;
  void column_form(CsrView x, CsrView columns, Indices items, In<float> p, std::span<double> out,
                   std::span<double> scores) override;
  void column_form(CsrView x, CsrView columns, Indices items, In<double> p, std::span<double> out,
                   std::span<double> scores) override;
  using Backend::top_k;
  RankedLists top_k(In<float> scores, CsrView excluded, std::int64_t k, std::optional<Indices> only) override;

  // For the files of this folder.

  [[nodiscard]] Observer* observer() const { return observer_; }
  /// A sparse matrix on the GPU: the pinned copy, or one that exists as long as the result. A block of
  /// the rows of a pinned matrix is found too, but without pieces.
  [[nodiscard]] std::shared_ptr<const cuda::SparseCopy> sparse(CsrView x);

 private:
  struct PinnedSparse {
    CsrView host;
    std::shared_ptr<const cuda::SparseCopy> copy;
  };
  struct PinnedSpan {
    std::span<const float> host;
    cuda::Array<float> copy;
  };
  friend const float* pinned_span(CudaBackend&, std::span<const float>);

  Observer* observer_;
  std::list<PinnedSparse> pinned_;
  std::list<PinnedSpan> pinned_spans_;
};

/// The GPU's copy of a pinned span or of a part of one; null where it is not pinned.
const float* pinned_span(CudaBackend& backend, std::span<const float> span);

namespace cuda {

/// A vector on the GPU for the time of one call: the GPU's own, a pinned one, or a copy.
template <class T>
class StagedSpan {
 public:
  using Value = std::remove_const_t<T>;

  StagedSpan(CudaBackend& backend, std::span<T> span, bool read = true)
      : backend_(backend), host_(span), data_(span.data()) {
    if (span.empty()) {
      data_ = nullptr;
      return;
    }
    if (CudaBackend::owns(span.data())) return;
    if constexpr (std::is_same_v<T, const float>) {
      if (const float* const pinned = pinned_span(backend, span)) {
        data_ = pinned;
        return;
      }
    }
    copy_ = Array<Value>(backend, static_cast<std::int64_t>(span.size()));
    data_ = copy_.data();
    if (read) backend.transfer(span.data(), 0, copy_.data(), 0, span.size_bytes(), 1);
  }
  /// Null for an empty one.
  [[nodiscard]] T* data() const { return data_; }
  void give_back() {
    if (copy_.data() != nullptr)
      backend_.transfer(copy_.data(), 0, const_cast<Value*>(host_.data()), 0, host_.size_bytes(), 1);
  }

 private:
  CudaBackend& backend_;
  std::span<T> host_;
  Array<Value> copy_;
  T* data_;
};

/// Blocks to start for `work` items, `each` a block: never more than a grid may have.
inline unsigned grid(std::int64_t work, std::int64_t each) {
  const std::int64_t blocks = (work + each - 1) / each;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 0x7fffffff ? 0x7fffffff : blocks);
}

}  // namespace cuda
}  // namespace poise
