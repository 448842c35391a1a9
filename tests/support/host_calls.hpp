#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "poise/backend/resident.hpp"

#include "support/there.hpp"

namespace poise::testing {

/// A backend whose primitives are called with matrices in ordinary memory: what a call reads is brought to
/// the backend's memory before it, and what it may have written back after it.
class HostCalls {
 public:
  explicit HostCalls(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}
  [[nodiscard]] Backend& operator*() const { return *backend_; }
  [[nodiscard]] Backend* get() const { return backend_.get(); }
  [[nodiscard]] HostCalls* operator->() { return this; }

  void add_rows(Numbers factors, MatrixView<const float> x, MatrixView<float> y, Indices rows) {
    return backend_->add_rows(factors, Lent<float>(*backend_, x).view(), There<float>(*backend_, y), rows);
  }
  void add_rows(Numbers factors, MatrixView<const double> x, MatrixView<double> y, Indices rows) {
    return backend_->add_rows(factors, Lent<double>(*backend_, x).view(), There<double>(*backend_, y), rows);
  }
  void row_dots(MatrixView<const float> x, MatrixView<const float> y, std::span<double> out) {
    return backend_->row_dots(Lent<float>(*backend_, x).view(), Lent<float>(*backend_, y).view(), out);
  }
  void row_dots(MatrixView<const double> x, MatrixView<const double> y, std::span<double> out) {
    return backend_->row_dots(Lent<double>(*backend_, x).view(), Lent<double>(*backend_, y).view(), out);
  }
  void copy_rows(MatrixView<const float> from, Indices from_rows, MatrixView<float> to, Indices to_rows) {
    return backend_->copy_rows(Lent<float>(*backend_, from).view(), from_rows, There<float>(*backend_, to),
                               to_rows);
  }
  void copy_rows(MatrixView<const double> from, Indices from_rows, MatrixView<double> to, Indices to_rows) {
    return backend_->copy_rows(Lent<double>(*backend_, from).view(), from_rows, There<double>(*backend_, to),
                               to_rows);
  }
  void get_entries(MatrixView<const float> x, Indices rows, Indices cols, std::span<double> out) {
    return backend_->get_entries(Lent<float>(*backend_, x).view(), rows, cols, out);
  }
  void get_entries(MatrixView<const double> x, Indices rows, Indices cols, std::span<double> out) {
    return backend_->get_entries(Lent<double>(*backend_, x).view(), rows, cols, out);
  }
  void set_entries(MatrixView<float> x, Indices cols, Numbers values) {
    return backend_->set_entries(There<float>(*backend_, x), cols, values);
  }
  void set_entries(MatrixView<double> x, Indices cols, Numbers values) {
    return backend_->set_entries(There<double>(*backend_, x), cols, values);
  }
  void transpose_in_place(MatrixView<float> a) {
    return backend_->transpose_in_place(There<float>(*backend_, a));
  }
  void gemm(Op op_a, Op op_b, float alpha, MatrixView<const float> a, MatrixView<const float> b, float beta,
            MatrixView<float> c) {
    return backend_->gemm(op_a, op_b, alpha, Lent<float>(*backend_, a).view(),
                          Lent<float>(*backend_, b).view(), beta, There<float>(*backend_, c));
  }
  void gemm(Op op_a, Op op_b, double alpha, MatrixView<const double> a, MatrixView<const double> b,
            double beta, MatrixView<double> c) {
    return backend_->gemm(op_a, op_b, alpha, Lent<double>(*backend_, a).view(),
                          Lent<double>(*backend_, b).view(), beta, There<double>(*backend_, c));
  }
  void gemm(Op op_a, Op op_b, double alpha, MatrixView<const float> a, MatrixView<const double> b,
            double beta, MatrixView<double> c) {
    return backend_->gemm(op_a, op_b, alpha, Lent<float>(*backend_, a).view(),
                          Lent<double>(*backend_, b).view(), beta, There<double>(*backend_, c));
  }
  void multiply_symmetric(MatrixView<const float> r, MatrixView<const float> a, MatrixView<float> y) {
    return backend_->multiply_symmetric(Lent<float>(*backend_, r).view(), Lent<float>(*backend_, a).view(),
                                        There<float>(*backend_, y));
  }
  void gram(CsrView x, std::span<const float> row_weights, MatrixView<float> g) {
    return backend_->gram(x, row_weights, There<float>(*backend_, g));
  }
  void gram(CsrView x, std::span<const float> row_weights, MatrixView<double> g) {
    return backend_->gram(x, row_weights, There<double>(*backend_, g));
  }
  void spmm(CsrView x, MatrixView<const float> b, MatrixView<float> y) {
    return backend_->spmm(x, Lent<float>(*backend_, b).view(), There<float>(*backend_, y));
  }
  void spmm(CsrView x, MatrixView<const double> b, MatrixView<double> y) {
    return backend_->spmm(x, Lent<double>(*backend_, b).view(), There<double>(*backend_, y));
  }
  void spmm(CsrView x, CsrView b, MatrixView<float> y) {
    return backend_->spmm(x, b, There<float>(*backend_, y));
  }
  void factor_scores(MatrixView<const float> z, MatrixView<const float> v, MatrixView<float> y) {
    return backend_->factor_scores(Lent<float>(*backend_, z).view(), Lent<float>(*backend_, v).view(),
                                   There<float>(*backend_, y));
  }
  void sampled_dots(CsrView x, MatrixView<const float> t, MatrixView<const float> v, std::span<float> out) {
    return backend_->sampled_dots(x, Lent<float>(*backend_, t).view(), Lent<float>(*backend_, v).view(), out);
  }
  void sampled_product(CsrView x, std::span<const float> w, std::span<const float> c,
                       MatrixView<const float> t, MatrixView<const float> v, MatrixView<float> s) {
    return backend_->sampled_product(x, w, c, Lent<float>(*backend_, t).view(),
                                     Lent<float>(*backend_, v).view(), There<float>(*backend_, s));
  }
  Matrix<double> factor_gram(MatrixView<const float> z, std::span<const float> a) {
    return backend_->factor_gram(Lent<float>(*backend_, z).view(), a);
  }
  Matrix<double> factor_product(MatrixView<const float> y, std::span<const float> a,
                                MatrixView<const float> z) {
    return backend_->factor_product(Lent<float>(*backend_, y).view(), a, Lent<float>(*backend_, z).view());
  }
  void combine_rows(MatrixView<const float> z, const Matrix<double>& a, MatrixView<float> y,
                    const Matrix<double>& b) {
    return backend_->combine_rows(Lent<float>(*backend_, z).view(), a, There<float>(*backend_, y), b);
  }
  void divide_by_products(MatrixView<float> x, Numbers s, Numbers t, double shift) {
    return backend_->divide_by_products(There<float>(*backend_, x), s, t, shift);
  }
  RowsSolved solve_rows(const RowSystems& systems, MatrixView<float> y, RowTolerance tolerance,
                        RowRoute route = RowRoute::counted) {
    const PlacedSystems placed(*backend_, systems);
    return backend_->solve_rows(placed.view(), There<float>(*backend_, y), tolerance, route);
  }
  RowsChecked check_rows(const RowSystems& systems, MatrixView<const float> v, MatrixView<const double> E,
                         MatrixView<const double> E_inverse) {
    const PlacedSystems placed(*backend_, systems);
    return backend_->check_rows(placed.view(), Lent<float>(*backend_, v).view(),
                                Lent<double>(*backend_, E).view(), Lent<double>(*backend_, E_inverse).view());
  }
  EigenPairs symmetric_eigenpairs(MatrixView<double> a, std::int64_t count) {
    return backend_->symmetric_eigenpairs(There<double>(*backend_, a), count);
  }
  EigenPairs symmetric_eigenpairs(MatrixView<float> a, std::int64_t count) {
    return backend_->symmetric_eigenpairs(There<float>(*backend_, a), count);
  }
  SpdInverse invert_spd(MatrixView<float> a) { return backend_->invert_spd(There<float>(*backend_, a)); }
  SpdInverse invert_spd(MatrixView<double> a) { return backend_->invert_spd(There<double>(*backend_, a)); }
  void column_hessian(CsrView x, CsrView columns, Indices items, MatrixView<const float> p,
                      MatrixView<float> out) {
    return backend_->column_hessian(x, columns, items, Lent<float>(*backend_, p).view(),
                                    There<float>(*backend_, out));
  }
  void column_hessian(CsrView x, CsrView columns, Indices items, MatrixView<const double> p,
                      MatrixView<double> out) {
    return backend_->column_hessian(x, columns, items, Lent<double>(*backend_, p).view(),
                                    There<double>(*backend_, out));
  }
  void column_form(CsrView x, CsrView columns, Indices items, MatrixView<const float> p,
                   std::span<double> out, std::span<double> scores) {
    return backend_->column_form(x, columns, items, Lent<float>(*backend_, p).view(), out, scores);
  }
  void column_form(CsrView x, CsrView columns, Indices items, MatrixView<const double> p,
                   std::span<double> out, std::span<double> scores) {
    return backend_->column_form(x, columns, items, Lent<double>(*backend_, p).view(), out, scores);
  }
  RankedLists top_k(MatrixView<const float> scores, CsrView excluded, std::int64_t k,
                    std::optional<Indices> only) {
    return backend_->top_k(Lent<float>(*backend_, scores).view(), excluded, k, only);
  }

  [[nodiscard]] BackendTraits traits() const { return backend_->traits(); }
  [[nodiscard]] Pin pin(CsrView x) { return backend_->pin(x); }
  double triple_dot(std::span<const float> c, std::span<const float> x, std::span<const float> y) {
    return backend_->triple_dot(c, x, y);
  }
  EigenPairs symmetric_eigenpairs(Matrix<double> a) { return backend_->symmetric_eigenpairs(std::move(a)); }
  RankedLists top_k(MatrixView<const float> scores, CsrView excluded, std::int64_t k) {
    return top_k(scores, excluded, k, std::nullopt);
  }
  void multiply_symmetric(MatrixView<const double> r, MatrixView<const double> a, MatrixView<double> y) {
    gemm(Op::none, Op::none, 1.0, r, a, 0.0, y);
  }
  void multiply_rows(MatrixView<float> z, const Matrix<double>& a) {
    combine_rows({z.data, 0, z.cols, z.stride}, {}, z, a);
  }

 private:
  /// Systems whose factors were given in ordinary memory, see unplaced().
  class PlacedSystems {
   public:
    PlacedSystems(Backend& backend, const RowSystems& systems)
        : systems_(systems), factors_(backend, systems.factors.host()) {
      systems_.factors = factors_.view();
    }
    [[nodiscard]] const RowSystems& view() const { return systems_; }

   private:
    RowSystems systems_;
    Lent<float> factors_;
  };

  std::unique_ptr<Backend> backend_;
};

/// A matrix in ordinary memory in the place of one of a backend's: for HostCalls alone.
template <class T>
In<T> unplaced(const Matrix<T>& matrix) {
  return {matrix.view().data, matrix.rows(), matrix.cols(), matrix.cols()};
}

}  // namespace poise::testing
