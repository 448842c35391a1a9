#pragma once

#include "poise/backend/backend.hpp"

namespace poise {

/// The primitives as their equations read, in plain loops that share nothing with another backend: what each
/// of them is tested against. On one thread.
class ReferenceBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return to_string(BackendKind::reference); }
  [[nodiscard]] BackendTraits traits() const override { return {}; }
  [[nodiscard]] bool on_host() const override { return true; }
  [[nodiscard]] std::uint64_t memory_bytes() const override;
  [[nodiscard]] void* allocate(std::uint64_t bytes) override;
  void release(void* memory) noexcept override;
  void copy(MatrixView<const float> from, MatrixView<float> to) override;
  void copy(MatrixView<const double> from, MatrixView<double> to) override;
  void copy(MatrixView<const float> from, MatrixView<double> to) override;
  void copy(MatrixView<const double> from, MatrixView<float> to) override;
  [[nodiscard]] Pin pin(CsrView /*x*/) override { return {}; }
  [[nodiscard]] Pin pin(std::span<const float> /*x*/) override { return {}; }

  void combine(std::span<const Term<float>> terms, MatrixView<float> out) override;
  void combine(std::span<const Term<double>> terms, MatrixView<double> out) override;
  void add_rows(std::span<const double> factors, MatrixView<const float> x, MatrixView<float> y,
                std::span<const std::int32_t> rows) override;
  void add_rows(std::span<const double> factors, MatrixView<const double> x, MatrixView<double> y,
                std::span<const std::int32_t> rows) override;
  void row_dots(MatrixView<const float> x, MatrixView<const float> y, std::span<double> out) override;
  void row_dots(MatrixView<const double> x, MatrixView<const double> y, std::span<double> out) override;
  void copy_rows(MatrixView<const float> from, std::span<const std::int32_t> from_rows, MatrixView<float> to,
                 std::span<const std::int32_t> to_rows) override;
  void copy_rows(MatrixView<const double> from, std::span<const std::int32_t> from_rows,
                 MatrixView<double> to, std::span<const std::int32_t> to_rows) override;
  void get_entries(MatrixView<const float> x, std::span<const std::int32_t> rows,
                   std::span<const std::int32_t> cols, std::span<double> out) override;
  void get_entries(MatrixView<const double> x, std::span<const std::int32_t> rows,
                   std::span<const std::int32_t> cols, std::span<double> out) override;
  void set_entries(MatrixView<float> x, std::span<const std::int32_t> cols,
                   std::span<const double> values) override;
  void set_entries(MatrixView<double> x, std::span<const std::int32_t> cols,
                   std::span<const double> values) override;
  void transpose_in_place(MatrixView<float> a) override;
  void multiply_symmetric(MatrixView<const float> r, MatrixView<const float> a, MatrixView<float> y) override;
  [[nodiscard]] bool splits_products(std::int64_t /*size*/) const override { return false; }
  void multiply_symmetric(MatrixView<const double> r, MatrixView<const double> a,
                          MatrixView<double> y) override;
  void column_form(CsrView x, CsrView columns, std::span<const std::int32_t> items, MatrixView<const float> p,
                   std::span<double> out, std::span<double> scores) override;
  void column_form(CsrView x, CsrView columns, std::span<const std::int32_t> items,
                   MatrixView<const double> p, std::span<double> out, std::span<double> scores) override;
  [[nodiscard]] double triple_dot(std::span<const float> c, std::span<const float> x,
                                  std::span<const float> y) override;
  [[nodiscard]] Matrix<double> factor_gram(MatrixView<const float> z, std::span<const float> a) override;
  [[nodiscard]] Matrix<double> factor_product(MatrixView<const float> y, std::span<const float> a,
                                              MatrixView<const float> z) override;
  void combine_rows(MatrixView<const float> z, const Matrix<double>& a, MatrixView<float> y,
                    const Matrix<double>& b) override;
  void divide_by_products(MatrixView<float> x, std::span<const double> s, std::span<const double> t,
                          double shift) override;
  RowsSolved solve_rows(const RowSystems& systems, MatrixView<float> y, RowTolerance tolerance,
                        RowRoute route) override;
  [[nodiscard]] RowsChecked check_rows(const RowSystems& systems, MatrixView<const float> v,
                                       MatrixView<const double> E,
                                       MatrixView<const double> E_inverse) override;
  using Backend::symmetric_eigenpairs;
  [[nodiscard]] EigenPairs symmetric_eigenpairs(MatrixView<double> a, std::int64_t count) override;
  [[nodiscard]] EigenPairs symmetric_eigenpairs(MatrixView<float> a, std::int64_t count) override;
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
