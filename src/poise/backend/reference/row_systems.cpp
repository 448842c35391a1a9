#include <algorithm>
#include <cmath>
#include <vector>

#include "poise/backend/reference/reference_backend.hpp"

namespace poise {
namespace {

using Vector = std::vector<double>;

/// Up to this width a row that may take either route is factored.
constexpr std::int64_t widest_factored = 64;
constexpr int most_steps = 500;

/// Row i: H y = g with H = D + sum of c z z', g = sum of w z. Coordinates where D is 0 are left out.
class Row {
 public:
  Row(const RowSystems& systems, std::int64_t i) : systems_(systems), i_(i), D_(systems.factors.cols) {
    for (std::size_t k = 0; k < D_.size(); ++k) {
      const double D = systems.b_of(i) * systems.sigma[k] + systems.lambda_of(i);
      D_[k] = D > 0 && std::isfinite(1 / static_cast<float>(D)) ? D : 0;
    }
  }

  [[nodiscard]] bool live(std::size_t k) const { return D_[k] > 0; }
  [[nodiscard]] std::int64_t entries() const { return systems_.entries.row_size(i_); }
  [[nodiscard]] bool corrected() const { return !systems_.c.empty(); }

  [[nodiscard]] Vector g() const {
    Vector sum(D_.size(), 0.0);
    for_each_entry([&](std::span<const float> z, double /*c*/, double w) { add(w, z, sum); });
    return sum;
  }
  [[nodiscard]] Vector H(const Vector& y) const {
    Vector sum(D_.size());
    for (std::size_t k = 0; k < D_.size(); ++k) sum[k] = D_[k] * y[k];
    for_each_entry([&](std::span<const float> z, double c, double /*w*/) { add(c * dot(z, y), z, sum); });
    return sum;
  }
  [[nodiscard]] double inverse_form(const Vector& r) const {
    double sum = 0;
    for (std::size_t k = 0; k < D_.size(); ++k) sum += live(k) ? r[k] * r[k] / D_[k] : 0;
    return sum;
  }
  [[nodiscard]] Vector divided(const Vector& r) const {
    Vector z(r.size(), 0.0);
    for (std::size_t k = 0; k < r.size(); ++k) z[k] = live(k) ? r[k] / D_[k] : 0;
    return z;
  }

  /// H^-1 g by Cholesky's factorization.
  [[nodiscard]] Vector solution() const {
    const auto d = static_cast<std::int64_t>(D_.size());
    Matrix<double> K(d, d);
    for (std::int64_t k = 0; k < d; ++k) K(k, k) = live(k) ? D_[k] : 1;
    for_each_entry([&](std::span<const float> z, double c, double /*w*/) {
      for (std::int64_t j = 0; j < d; ++j) {
        for (std::int64_t k = 0; k <= j; ++k) {
          if (live(j) && live(k)) K(j, k) += c * static_cast<double>(z[j]) * z[k];
        }
      }
    });
    Vector x = g();
    for (std::int64_t j = 0; j < d; ++j) {
      if (!live(j)) x[j] = 0;
      for (std::int64_t k = 0; k <= j; ++k) {
        for (std::int64_t l = 0; l < k; ++l) K(j, k) -= K(j, l) * K(k, l);
        K(j, k) = j == k ? std::sqrt(K(j, j)) : K(j, k) / K(k, k);
      }
      for (std::int64_t k = 0; k < j; ++k) x[j] -= K(j, k) * x[k];
      x[j] /= K(j, j);
    }
    for (std::int64_t j = d - 1; j >= 0; --j) {
      for (std::int64_t k = j + 1; k < d; ++k) x[j] -= K(k, j) * x[k];
      x[j] /= K(j, j);
    }
    return x;
  }

  static double dot(std::span<const float> z, const Vector& y) {
    double sum = 0;
    for (std::size_t k = 0; k < z.size(); ++k) sum += z[k] * y[k];
    return sum;
  }
  static double dot(const Vector& x, const Vector& y) {
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
    return sum;
  }

 private:
  static void add(double factor, std::span<const float> z, Vector& sum) {
    for (std::size_t k = 0; k < z.size(); ++k) sum[k] += factor * z[k];
  }
  template <class Body>
  void for_each_entry(const Body& body) const {
    for (std::int64_t e = systems_.entries.offsets[i_]; e < systems_.entries.offsets[i_ + 1]; ++e)
      body(systems_.factors.host().row(systems_.entries.indices[e]), corrected() ? systems_.c[e] : 0.0,
           static_cast<double>(systems_.w[e]));
  }

  const RowSystems& systems_;
  std::int64_t i_;
  Vector D_;
};

/// Conjugate gradients from y until r'D^-1 r is at most target(what y explains). Returns the steps.
template <class Target>
int iterate(const Row& row, Vector& y, const Vector& g, const Target& target) {
  Vector r = row.H(y);
  for (std::size_t k = 0; k < r.size(); ++k) r[k] = row.live(k) ? g[k] - r[k] : 0;
  Vector p = row.divided(r);
  double rz = Row::dot(r, p);
  double explained = Row::dot(y, g) + Row::dot(y, r);
  int steps = 0;
  while (rz > target(explained) && steps < most_steps) {
    Vector Hp = row.H(p);
    const double curvature = Row::dot(p, Hp);
    if (!(curvature > 0)) break;
    const double alpha = rz / curvature;
    explained += alpha * rz;
    for (std::size_t k = 0; k < r.size(); ++k) {
      y[k] += alpha * p[k];
      r[k] -= row.live(k) ? alpha * Hp[k] : 0;
    }
    const Vector z = row.divided(r);
    const double before = rz;
    rz = Row::dot(r, z);
    for (std::size_t k = 0; k < r.size(); ++k) p[k] = z[k] + rz / before * p[k];
    ++steps;
  }
  return steps;
}

void solve_row(const RowSystems& systems, std::int64_t i, std::span<float> saved, RowTolerance tolerance,
               RowRoute route, RowsSolved& total) {
  const Row row(systems, i);
  const Vector g = row.g();
  Vector y(saved.begin(), saved.end());
  for (std::size_t k = 0; k < y.size(); ++k) y[k] = row.live(k) ? y[k] : 0;
  const auto explained = [&] { return 2 * Row::dot(y, g) - Row::dot(y, row.H(y)); };
  const auto target = [&](double explains) {
    return systems.lowest * (tolerance.relative * std::max(0.0, explains) + tolerance.absolute);
  };
  const double before = explained();
  Vector r = row.H(y);
  for (std::size_t k = 0; k < r.size(); ++k) r[k] = g[k] - r[k];
  const double rz = row.inverse_form(r);
  int steps = 0;
  if (row.entries() == 0) {
    std::ranges::fill(y, 0.0);
  } else if (rz > target(before)) {
    const bool factored =
        row.corrected() &&
        (route == RowRoute::direct || (route == RowRoute::counted && std::ssize(y) <= widest_factored));
    steps = 1;
    if (factored) {
      y = row.solution();
      ++total.direct_rows;
    } else {
      steps = iterate(row, y, g, target);
    }
  }
  std::ranges::transform(y, saved.begin(), [](double value) { return static_cast<float>(value); });
  total.explained_before += before;
  total.gain += explained() - before;
  total.excess_before += rz / systems.lowest;
  total.iterations += steps;
  total.most_iterations = std::max<std::int64_t>(total.most_iterations, steps);
}

}  // namespace

RowsSolved ReferenceBackend::solve_rows(const RowSystems& systems, Out<float> y, RowTolerance tolerance,
                                        RowRoute route) {
  RowsSolved total;
  for (std::int64_t i = 0; i < y.rows; ++i) solve_row(systems, i, y.host().row(i), tolerance, route, total);
  return total;
}

RowsChecked ReferenceBackend::check_rows(const RowSystems& systems, In<float> v, In<double> E,
                                         In<double> E_inverse) {
  RowsChecked checked;
  for (std::int64_t i = 0; i < v.rows; ++i) {
    const std::int64_t d = v.cols;
    const Vector saved(v.host().row(i).begin(), v.host().row(i).end());
    // sum of (w - c z.v) z, and sum of z.v (2 w - c z.v).
    Vector pull(d, 0.0);
    for (std::int64_t e = systems.entries.offsets[i]; e < systems.entries.offsets[i + 1]; ++e) {
      const auto z = systems.factors.host().row(systems.entries.indices[e]);
      const double t = Row::dot(z, saved);
      const double left = systems.w[e] - (systems.c.empty() ? 0.0 : systems.c[e]) * t;
      checked.explained += t * (systems.w[e] + left);
      for (std::int64_t k = 0; k < d; ++k) pull[k] += left * z[k];
    }
    for (std::int64_t k = 0; k < d; ++k) {
      double y = E.rows > 0 ? 0 : saved[k];
      double rotated = E.rows > 0 ? 0 : pull[k];
      for (std::int64_t j = 0; j < d && E.rows > 0; ++j) {
        y += E_inverse.host()(k, j) * saved[j];
        rotated += pull[j] * E.host()(j, k);
      }
      const double D = systems.b_of(i) * systems.sigma[k] + systems.lambda_of(i);
      const double r = rotated - D * y;
      checked.explained -= D * y * y;
      if (D > 0) checked.excess += r * r / D / systems.lowest;
    }
  }
  return checked;
}

}  // namespace poise
