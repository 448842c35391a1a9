#include "poise/backend/reference/reference_backend.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "poise/base/error.hpp"

namespace poise {
namespace {

template <class A, class T>
void plain_gemm(Op op_a, Op op_b, T alpha, MatrixView<const A> a, MatrixView<const T> b, T beta,
                MatrixView<T> c) {
  const std::int64_t inner = op_a == Op::none ? a.cols : a.rows;
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.cols; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        const double left = op_a == Op::none ? a(i, k) : a(k, i);
        const double right = op_b == Op::none ? b(k, j) : b(j, k);
        sum += left * right;
      }
      const double kept = beta == 0 ? 0 : static_cast<double>(beta) * c(i, j);
      c(i, j) = static_cast<T>(alpha * sum + kept);
    }
  }
}

template <class T>
void plain_spmm(CsrView x, MatrixView<const T> b, MatrixView<T> y) {
  for (std::int64_t u = 0; u < x.rows; ++u) {
    const auto columns = x.row(u);
    const auto values = x.row_values(u);
    for (std::int64_t j = 0; j < b.cols; ++j) {
      double sum = 0;
      for (std::size_t e = 0; e < columns.size(); ++e) {
        const double value = values.empty() ? 1 : values[e];
        sum += value * b(columns[e], j);
      }
      y(u, j) = static_cast<T>(sum);
    }
  }
}

}  // namespace

void ReferenceBackend::gemm(Op op_a, Op op_b, float alpha, In<float> a, In<float> b, float beta,
                            Out<float> c) {
  plain_gemm(op_a, op_b, alpha, a.host(), b.host(), beta, c.host());
}

void ReferenceBackend::gemm(Op op_a, Op op_b, double alpha, In<double> a, In<double> b, double beta,
                            Out<double> c) {
  plain_gemm(op_a, op_b, alpha, a.host(), b.host(), beta, c.host());
}

void ReferenceBackend::gemm(Op op_a, Op op_b, double alpha, In<float> a, In<double> b, double beta,
                            Out<double> c) {
  plain_gemm(op_a, op_b, alpha, a.host(), b.host(), beta, c.host());
}

void ReferenceBackend::multiply_symmetric(In<float> r, In<float> a, Out<float> y) {
  plain_gemm(Op::none, Op::none, 1.0F, r.host(), a.host(), 0.0F, y.host());
}

void ReferenceBackend::gram(CsrView x, std::span<const float> row_weights, Out<float> g) {
  Matrix<double> sums(x.cols, x.cols);
  gram(x, row_weights, Out<double>{sums.view().data, x.cols, x.cols, x.cols});
  for (std::int64_t i = 0; i < x.cols; ++i) {
    for (std::int64_t j = 0; j < x.cols; ++j) g.host()(i, j) = static_cast<float>(sums(i, j));
  }
}

void ReferenceBackend::gram(CsrView x, std::span<const float> row_weights, Out<double> g) {
  for (std::int64_t i = 0; i < x.cols; ++i) {
    for (std::int64_t j = 0; j < x.cols; ++j) g.host()(i, j) = 0;
  }
  for (std::int64_t u = 0; u < x.rows; ++u) {
    const double weight = row_weights.empty() ? 1 : row_weights[u];
    for (const std::int32_t i : x.row(u)) {
      for (const std::int32_t j : x.row(u)) g.host()(i, j) += weight;
    }
  }
}

void ReferenceBackend::spmm(CsrView x, In<float> b, Out<float> y) { plain_spmm(x, b.host(), y.host()); }

void ReferenceBackend::spmm(CsrView x, CsrView b, Out<float> y) {
  Matrix<float> dense(b.rows, b.cols);
  for (std::int64_t i = 0; i < b.rows; ++i) {
    for (std::int64_t k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
      dense(i, b.indices[k]) = b.values.empty() ? 1.0F : b.values[k];
  }
  plain_spmm<float>(x, dense.view(), y.host());
}

void ReferenceBackend::factor_scores(In<float> z, In<float> v, Out<float> y) {
  plain_gemm(Op::none, Op::transpose, 1.0F, z.host(), v.host(), 0.0F, y.host());
}

void ReferenceBackend::spmm(CsrView x, In<double> b, Out<double> y) { plain_spmm(x, b.host(), y.host()); }

RankedLists ReferenceBackend::top_k(In<float> scores, CsrView excluded, std::int64_t k,
                                    std::optional<Indices> only) {
  RankedLists lists(scores.rows, std::min(k, scores.cols));
  for (std::int64_t u = 0; u < scores.rows; ++u) {
    const auto left_out = excluded.row(u);
    std::vector<std::int32_t> order;
    for (std::int32_t i = 0; i < scores.cols; ++i) {
      if (only && std::ranges::find(*only, i) == only->end()) continue;
      if (std::isnan(scores.host()(u, i)))
        fail(ErrorKind::numerical, "the score of item number {} is not a number", i);
      if (std::find(left_out.begin(), left_out.end(), i) == left_out.end()) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) {
      return scores.host()(u, i) > scores.host()(u, j);
    });
    const auto size = std::min<std::int64_t>(order.size(), lists.width());
    for (std::int64_t r = 0; r < size; ++r) {
      lists.item_slots(u)[r] = order[r];
      lists.score_slots(u)[r] = scores.host()(u, order[r]);
    }
    lists.resize(u, size);
  }
  return lists;
}

}  // namespace poise
