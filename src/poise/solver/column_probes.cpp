#include "poise/solver/column_probes.hpp"

namespace poise {

ResidualProducts residual_products(const SharedSystem& A, const WeightedErrors& E, SavedColumns columns,
                                   const Matrix<double>& z, Backend& backend) {
  const ColumnProblem& problem = A.problem();
  const auto B_times = [&](const Matrix<double>& vectors) { return columns.times(vectors, backend); };
  ResidualProducts made{.R = {}, .B = B_times(z)};
  Matrix<double> v = z;  // sum_i b_i z_i q_i = bz - B bz
  for (std::int64_t i = 0; i < v.rows(); ++i) {
    for (double& entry : v.row(i)) entry *= problem.W->b_of(i);
  }
  const Matrix<double> Bbz = problem.W->b.empty() ? Matrix<double>() : B_times(v);
  for (std::int64_t i = 0; i < v.rows(); ++i) {
    for (std::int64_t p = 0; p < v.cols(); ++p) v(i, p) -= Bbz.rows() > 0 ? Bbz(i, p) : made.B(i, p);
  }
  made.R = A.background(v);
  const Matrix<double> weighted = E.empty() ? Matrix<double>() : E.products(columns, z);
  for (std::int64_t i = 0; i < v.rows(); ++i) {
    for (std::int64_t p = 0; p < v.cols(); ++p)
      made.R(i, p) += (weighted.rows() > 0 ? weighted(i, p) : 0.0) - problem.l[i] * made.B(i, p);
  }
  return made;
}

Matrix<double> residual_dots(const SharedSystem& A, const WeightedErrors& E, SavedColumns columns,
                             const InverseForms& forms, Backend& backend) {
  const ColumnProblem& problem = A.problem();
  const auto q_dot = [&](const Matrix<double>& v) {  // v_i - B_:i . v
    return columns.rest(v, backend);
  };
  Matrix<double> Lambda_e = forms.e;
  Matrix<double> data = forms.background;
  const bool item_weights = !problem.W->b.empty();
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    for (std::int64_t p = 0; p < data.cols(); ++p) {
      Lambda_e(i, p) *= problem.l[i];
      if (!item_weights) data(i, p) += Lambda_e(i, p);
    }
  }
  Matrix<double> dots = q_dot(data);
  const Matrix<double> penalty = item_weights ? q_dot(Lambda_e) : Matrix<double>();
  const Matrix<double> weighted = E.empty() ? Matrix<double>() : E.dots(columns, forms.e);
  for (std::int64_t i = 0; i < dots.rows(); ++i) {
    for (std::int64_t p = 0; p < dots.cols(); ++p) {
      dots(i, p) = problem.W->b_of(i) * dots(i, p) + (item_weights ? penalty(i, p) : 0.0) +
                   (weighted.rows() > 0 ? weighted(i, p) : 0.0) - Lambda_e(i, p);
    }
  }
  return dots;
}

}  // namespace poise
