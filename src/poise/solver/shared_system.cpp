#include "poise/solver/shared_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "poise/backend/resident.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/solver/column_parts.hpp"

namespace poise {

namespace {

/// Steps of conjugate gradients at a time, the largest number of repetitions, and the factor by which they
/// must reduce the remainders to be repeated.
constexpr int max_steps = 8;
constexpr int max_times = 3;
constexpr double worthwhile = 0.5;

/// x'y of each column, summed by item.
std::vector<double> column_dots(const Matrix<double>& x, const Matrix<double>& y) {
  std::vector<double> dots(x.cols(), 0.0);
  for (std::int64_t i = 0; i < x.rows(); ++i) {
    for (std::int64_t k = 0; k < x.cols(); ++k) dots[k] += x(i, k) * y(i, k);
  }
  return dots;
}

/// The powers of two that bring the largest entry of each column to [1, 2), so that float32 can hold it.
std::vector<double> column_scales(const Matrix<double>& y) {
  std::vector<double> largest(y.cols(), 0.0);
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    for (std::int64_t k = 0; k < y.cols(); ++k) largest[k] = std::max(largest[k], std::abs(y(i, k)));
  }
  for (double& entry : largest)
    entry = entry > 0 && std::isfinite(entry) ? std::ldexp(1.0, -std::ilogb(entry)) : 1.0;
  return largest;
}

template <class T>
Matrix<T> scaled(const Matrix<double>& y, std::span<const double> columns, std::span<const double> rows) {
  Matrix<T> result(y.rows(), y.cols());
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    const double row = rows.empty() ? 1.0 : rows[i];
    for (std::int64_t k = 0; k < y.cols(); ++k) result(i, k) = static_cast<T>(y(i, k) * columns[k] * row);
  }
  return result;
}

/// r = y - A e, given the background part of A e.
Matrix<double> remainder(const SharedSystem& A, const Matrix<double>& y, const InverseForms& forms) {
  Matrix<double> r(y.rows(), y.cols());
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    for (std::int64_t k = 0; k < y.cols(); ++k)
      r(i, k) = y(i, k) - forms.background(i, k) - A.least(i) * forms.e(i, k);
  }
  return r;
}

void bound(const SharedSystem& A, const Matrix<double>& y, const Matrix<double>& r, InverseForms& forms) {
  const std::vector<double> ye = column_dots(y, forms.e);
  const std::vector<double> er = column_dots(forms.e, r);
  forms.remainder.assign(y.cols(), 0.0);
  for (std::int64_t i = 0; i < r.rows(); ++i) {
    for (std::int64_t k = 0; k < r.cols(); ++k) forms.remainder[k] += r(i, k) * r(i, k) / A.least(i);
  }
  forms.form.resize(y.cols());
  constexpr double unknown = std::numeric_limits<double>::infinity();
  for (std::int64_t k = 0; k < y.cols(); ++k) {
    const double sum = ye[k] + er[k] + forms.remainder[k];
    forms.form[k] = std::isfinite(sum) ? std::max(0.0, sum) : unknown;
    if (!std::isfinite(forms.remainder[k])) forms.remainder[k] = unknown;
  }
}

}  // namespace

SharedSystem::SharedSystem(const ColumnProblem& problem, CsrView users_of, Backend& backend,
                           const Execution& execution)
    : problem_(problem), X_(problem.X), users_of_(users_of), backend_(backend), execution_(execution) {
  X_.values = {};
  users_of_.values = {};
  a_.assign(problem.W->a.begin(), problem.W->a.end());
}

Matrix<double> SharedSystem::background(const Matrix<double>& v) const {
  return in_parts(v, backend_, execution_.observer, [&](In<double> part, Out<double> to) {
    Resident<double> s(backend_, X_.rows, part.cols);
    backend_.spmm(X_, part, s.view());
    if (!a_.empty()) backend_.combine(std::vector<Term<double>>{{.x = s.view(), .rows = a_}}, s.view());
    backend_.spmm(users_of_, readable(s), to);
    problem_.features.add_product(part, to, backend_);
  });
}

template <class T>
Matrix<double> ComputedInverse<T>::apply(const Matrix<double>& y) {
  std::vector<double> scales = column_scales(y);
  const Matrix<T> product = A_inverse_.times(scaled<T>(y, scales, {}));
  Matrix<double> e(y.rows(), y.cols());
  for (double& scale : scales) scale = 1 / scale;
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    for (std::int64_t k = 0; k < y.cols(); ++k) e(i, k) = scales[k] * static_cast<double>(product(i, k));
  }
  return e;
}

Matrix<double> InverseOfColumns::apply(const Matrix<double>& y) {
  const std::vector<double> ones(y.cols(), 1.0);
  Matrix<double> w = scaled<double>(y, ones, p_);
  const std::vector<double> scales = column_scales(w);
  const Matrix<float> product = columns_.times(scaled<float>(w, scales, {}), backend_);
  for (std::int64_t i = 0; i < y.rows(); ++i) {
    for (std::int64_t k = 0; k < y.cols(); ++k) w(i, k) -= static_cast<double>(product(i, k)) / scales[k];
  }
  return w;
}

namespace {

/// Improves e towards A^-1 y by conjugate gradients on the remainder r = y - A e, with P as the
/// preconditioner: if P is poor in some directions, a few steps correct these. P need not be symmetric (Polak
/// and Ribiere's formula).
void improve(const SharedSystem& A, ApproximateInverse& P, Matrix<double>& e, Matrix<double> r, double goal) {
  const std::int64_t q = r.cols();
  Matrix<double> p(r.rows(), q);
  Matrix<double> before = r;
  std::vector<double> rz_before(q, 0.0);
  for (int step = 0; step < max_steps; ++step) {
    const Matrix<double> z = P.apply(r);
    const std::vector<double> rz = column_dots(r, z);
    const std::vector<double> cross = column_dots(before, z);
    for (std::int64_t i = 0; i < r.rows(); ++i) {
      for (std::int64_t k = 0; k < q; ++k) {
        const double back = rz_before[k] > 0 ? (rz[k] - cross[k]) / rz_before[k] : 0.0;
        p(i, k) = z(i, k) + back * p(i, k);
      }
    }
    Matrix<double> Ap = A.background(p);
    for (std::int64_t i = 0; i < r.rows(); ++i) {
      for (std::int64_t k = 0; k < q; ++k) Ap(i, k) += A.least(i) * p(i, k);
    }
    const std::vector<double> rp = column_dots(r, p);
    const std::vector<double> pAp = column_dots(p, Ap);
    before = r;
    double left = 0;
    for (std::int64_t i = 0; i < r.rows(); ++i) {
      for (std::int64_t k = 0; k < q; ++k) {
        const double length = pAp[k] > 0 ? rp[k] / pAp[k] : 0.0;
        e(i, k) += length * p(i, k);
        r(i, k) -= length * Ap(i, k);
        left += r(i, k) * r(i, k) / A.least(i);
      }
    }
    rz_before = rz;
    if (!(left > goal)) return;
  }
}

}  // namespace

InverseForms bound_inverse_forms(const SharedSystem& A, ApproximateInverse& P, const Matrix<double>& y,
                                 double share) {
  return bound_inverse_forms(A, P, y, share, P.apply(y));
}

InverseForms bound_inverse_forms(const SharedSystem& A, ApproximateInverse& P, const Matrix<double>& y,
                                 double share, Matrix<double> start) {
  const auto bounded = [&](Matrix<double> e, Matrix<double>& r) {
    InverseForms forms;
    forms.e = std::move(e);
    forms.background = A.background(forms.e);
    r = remainder(A, y, forms);
    bound(A, y, r, forms);
    return forms;
  };
  Matrix<double> r;
  InverseForms best = bounded(std::move(start), r);
  for (int time = 0; time < max_times && sum_of(best.remainder) > share * sum_of(best.form); ++time) {
    Matrix<double> e = best.e;
    improve(A, P, e, r, 0.5 * share * sum_of(best.form));
    InverseForms next = bounded(std::move(e), r);
    if (!(sum_of(next.remainder) < worthwhile * sum_of(best.remainder))) break;
    best = std::move(next);
  }
  return best;
}

template class ComputedInverse<float>;
template class ComputedInverse<double>;

}  // namespace poise
