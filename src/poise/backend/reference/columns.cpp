#include <cassert>
#include <vector>

#include "poise/backend/reference/reference_backend.hpp"

namespace poise {
namespace {

template <class T>
void plain_column_hessian(CsrView x, CsrView columns, Indices items, MatrixView<const T> p,
                          MatrixView<T> out) {
  for (std::int64_t s = 0; s < p.rows; ++s) {
    const auto users = columns.row(items[s]);
    const auto weights = columns.row_values(items[s]);
    std::vector<double> sums(x.cols);
    for (std::size_t e = 0; e < users.size(); ++e) {
      double dot = 0;
      for (const std::int32_t j : x.row(users[e])) dot += p(s, j);
      const double weight = weights.empty() ? 1 : weights[e];
      for (const std::int32_t j : x.row(users[e])) sums[j] += weight * dot;
    }
    for (std::int64_t j = 0; j < x.cols; ++j) out(s, j) = static_cast<T>(out(s, j) + sums[j]);
  }
}

template <class T>
void plain_column_form(CsrView x, CsrView columns, Indices items, MatrixView<const T> p,
                       std::span<double> out, std::span<double> scores) {
  std::size_t at = 0;
  for (std::int64_t s = 0; s < p.rows; ++s) {
    const auto users = columns.row(items[s]);
    const auto weights = columns.row_values(items[s]);
    out[s] = 0;
    for (std::size_t k = 0; k < users.size(); ++k) {
      double score = 0;
      for (const std::int32_t j : x.row(users[k])) score += p(s, j);
      out[s] += (weights.empty() ? 1.0 : weights[k]) * score;
      if (!scores.empty()) scores[at++] = score;
    }
  }
}

}  // namespace

void ReferenceBackend::column_hessian(CsrView x, CsrView columns, Indices items, In<float> p,
                                      Out<float> out) {
  plain_column_hessian(x, columns, items, p.host(), out.host());
}
void ReferenceBackend::column_hessian(CsrView x, CsrView columns, Indices items, In<double> p,
                                      Out<double> out) {
  plain_column_hessian(x, columns, items, p.host(), out.host());
}

void ReferenceBackend::column_form(CsrView x, CsrView columns, Indices items, In<float> p,
                                   std::span<double> out, std::span<double> scores) {
  plain_column_form(x, columns, items, p.host(), out, scores);
}
void ReferenceBackend::column_form(CsrView x, CsrView columns, Indices items, In<double> p,
                                   std::span<double> out, std::span<double> scores) {
  plain_column_form(x, columns, items, p.host(), out, scores);
}

}  // namespace poise
