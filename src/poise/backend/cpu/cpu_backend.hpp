#pragma once

#include <functional>

#include "poise/backend/backend.hpp"
#include "poise/base/parallel.hpp"

namespace poise {

/// OpenBLAS inside tiles of fixed size, OpenMP over the tiles; see backend.hpp.
class CpuBackend : public Backend {
 public:
  explicit CpuBackend(int threads, Observer* observer = nullptr) : threads_(threads), observer_(observer) {}

  [[nodiscard]] std::string_view name() const override { return to_string(BackendKind::cpu); }
  [[nodiscard]] BackendTraits traits() const override { return {}; }
  [[nodiscard]] std::uint64_t memory_bytes() const override;
  [[nodiscard]] void* allocate(std::uint64_t bytes) override;
  void release(void* memory) noexcept override;
  void copy(In<float> from, Out<float> to) override;
  void copy(In<double> from, Out<double> to) override;
  void copy(In<float> from, Out<double> to) override;
  void copy(In<double> from, Out<float> to) override;
  void upload(MatrixView<const float> from, Out<float> to) override;
  void upload(MatrixView<const double> from, Out<double> to) override;
  void download(In<float> from, MatrixView<float> to) override;
  void download(In<double> from, MatrixView<double> to) override;
  [[nodiscard]] Pin pin(CsrView /*x*/) override { return {}; }
  [[nodiscard]] Pin pin(std::span<const float> /*x*/) override { return {}; }

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
  void multiply_symmetric(In<float> r, In<float> a, Out<float> y) override;
  [[nodiscard]] bool splits_products(std::int64_t /*size*/) const override { return false; }
  void column_form(CsrView x, CsrView columns, Indices items, In<float> p, std::span<double> out,
                   std::span<double> scores) override;
  void column_form(CsrView x, CsrView columns, Indices items, In<double> p, std::span<double> out,
                   std::span<double> scores) override;
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
  void gemm(Op op_a, Op op_b, float alpha, In<float> a, In<float> b, float beta, Out<float> c) override;
  void gemm(Op op_a, Op op_b, double alpha, In<double> a, In<double> b, double beta, Out<double> c) override;
  void gemm(Op op_a, Op op_b, double alpha, In<float> a, In<double> b, double beta, Out<double> c) override;
  void gram(CsrView x, std::span<const float> row_weights, Out<float> g) override;
  void gram(CsrView x, std::span<const float> row_weights, Out<double> g) override;
  void spmm(CsrView x, In<float> b, Out<float> y) override;
  void sampled_dots(CsrView x, In<float> t, In<float> v, std::span<float> out) override;
  void sampled_product(CsrView x, std::span<const float> w, std::span<const float> c, In<float> t,
                       In<float> v, Out<float> s) override;
  void spmm(CsrView x, In<double> b, Out<double> y) override;
  void spmm(CsrView x, CsrView b, Out<float> y) override;
  void factor_scores(In<float> z, In<float> v, Out<float> y) override;
  [[nodiscard]] SpdInverse invert_spd(Out<float> a) override;
  [[nodiscard]] SpdInverse invert_spd(Out<double> a) override;
  void column_hessian(CsrView x, CsrView columns, Indices items, In<float> p, Out<float> out) override;
  void column_hessian(CsrView x, CsrView columns, Indices items, In<double> p, Out<double> out) override;
  using Backend::top_k;
  RankedLists top_k(In<float> scores, CsrView excluded, std::int64_t k, std::optional<Indices> only) override;

 protected:
  /// The sum of part(0), ..., part(parts - 1) in this order, each of `rows` x `cols`; `operations` in all.
  [[nodiscard]] virtual Matrix<double> ordered_sum(
      std::int64_t parts, std::int64_t rows, std::int64_t cols, double operations,
      const std::function<Matrix<double>(std::int64_t part)>& part);
  /// Writes all rows of `c` by compute(first, last) on ranges of their tiles; `operations` in all.
  using ComputeTiles = std::function<void(std::int64_t first, std::int64_t last)>;
  virtual void over_tiles(const Tiling& rows, double operations, Out<float> c, const ComputeTiles& compute);
  virtual void over_tiles(const Tiling& rows, double operations, Out<double> c, const ComputeTiles& compute);
  [[nodiscard]] Execution execution() const { return {threads_, observer_}; }

 private:
  int threads_;
  Observer* observer_;
};

}  // namespace poise
