#pragma once

#include "poise/backend/backend.hpp"

namespace poise {

/// What backends in ordinary memory have in common: no memory of their own, and simple operations on the rows
/// of blocks, tile by tile.
class HostBackend : public Backend {
 public:
  explicit HostBackend(int threads, Observer* observer = nullptr) : threads_(threads), observer_(observer) {}

  [[nodiscard]] bool on_host() const final { return true; }
  [[nodiscard]] std::uint64_t memory_bytes() const final;
  [[nodiscard]] void* allocate(std::uint64_t bytes) final;
  void release(void* memory) noexcept final;
  void copy(MatrixView<const float> from, MatrixView<float> to) final;
  void copy(MatrixView<const double> from, MatrixView<double> to) final;
  void copy(MatrixView<const float> from, MatrixView<double> to) final;
  void copy(MatrixView<const double> from, MatrixView<float> to) final;
  [[nodiscard]] Pin pin(CsrView /*x*/) final { return {}; }
  [[nodiscard]] Pin pin(std::span<const float> /*x*/) final { return {}; }

  void combine(std::span<const Term<float>> terms, MatrixView<float> out) final;
  void combine(std::span<const Term<double>> terms, MatrixView<double> out) final;
  void add_rows(std::span<const double> factors, MatrixView<const float> x, MatrixView<float> y,
                std::span<const std::int32_t> rows) final;
  void add_rows(std::span<const double> factors, MatrixView<const double> x, MatrixView<double> y,
                std::span<const std::int32_t> rows) final;
  void row_dots(MatrixView<const float> x, MatrixView<const float> y, std::span<double> out) final;
  void row_dots(MatrixView<const double> x, MatrixView<const double> y, std::span<double> out) final;
  void copy_rows(MatrixView<const float> from, std::span<const std::int32_t> from_rows, MatrixView<float> to,
                 std::span<const std::int32_t> to_rows) final;
  void copy_rows(MatrixView<const double> from, std::span<const std::int32_t> from_rows,
                 MatrixView<double> to, std::span<const std::int32_t> to_rows) final;
  void get_entries(MatrixView<const float> x, std::span<const std::int32_t> rows,
                   std::span<const std::int32_t> cols, std::span<double> out) final;
  void get_entries(MatrixView<const double> x, std::span<const std::int32_t> rows,
                   std::span<const std::int32_t> cols, std::span<double> out) final;
  void set_entries(MatrixView<float> x, std::span<const std::int32_t> cols,
                   std::span<const double> values) final;
  void set_entries(MatrixView<double> x, std::span<const std::int32_t> cols,
                   std::span<const double> values) final;
  void transpose_in_place(MatrixView<float> a) final;
  void multiply_symmetric(MatrixView<const float> r, MatrixView<const float> a, MatrixView<float> y) final;
  [[nodiscard]] bool splits_products(std::int64_t /*size*/) const final { return false; }
  void multiply_symmetric(MatrixView<const double> r, MatrixView<const double> a, MatrixView<double> y) final;
  void column_form(CsrView x, CsrView columns, std::span<const std::int32_t> items, MatrixView<const float> p,
                   std::span<double> out, std::span<double> scores) final;
  void column_form(CsrView x, CsrView columns, std::span<const std::int32_t> items,
                   MatrixView<const double> p, std::span<double> out, std::span<double> scores) final;
  [[nodiscard]] double triple_dot(std::span<const float> c, std::span<const float> x,
                                  std::span<const float> y) final;
  [[nodiscard]] Matrix<double> factor_gram(MatrixView<const float> z, std::span<const float> a) final;
  [[nodiscard]] Matrix<double> factor_product(MatrixView<const float> y, std::span<const float> a,
                                              MatrixView<const float> z) final;
  void combine_rows(MatrixView<const float> z, const Matrix<double>& a, MatrixView<float> y,
                    const Matrix<double>& b) final;
  void divide_by_products(MatrixView<float> x, std::span<const double> s, std::span<const double> t,
                          double shift) final;
  RowsSolved solve_rows(const RowSystems& systems, MatrixView<float> y, RowTolerance tolerance,
                        RowRoute route) final;
  [[nodiscard]] RowsChecked check_rows(const RowSystems& systems, MatrixView<const float> v,
                                       MatrixView<const double> E, MatrixView<const double> E_inverse) final;
  using Backend::symmetric_eigenpairs;
  [[nodiscard]] EigenPairs symmetric_eigenpairs(MatrixView<double> a, std::int64_t count) final;
  [[nodiscard]] EigenPairs symmetric_eigenpairs(MatrixView<float> a, std::int64_t count) final;

 protected:
  int threads_;
  Observer* observer_;
};

}  // namespace poise
