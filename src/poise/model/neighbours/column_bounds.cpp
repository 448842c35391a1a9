#include "poise/model/neighbours/column_bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "poise/base/pool.hpp"

namespace poise {
namespace {

using Sums = std::array<double, normal_width>;

/// Conjugate gradients for up to normal_width columns, each with its own steps, on one thread.
class ColumnGroup {
 public:
  explicit ColumnGroup(const NeighbourProblem& problem)
      : problem_(problem),
        n_(problem.items()),
        rho_(n_),
        e_(n_),
        r_(n_),
        p_(n_),
        Hp_(n_),
        G_diagonal_(problem.diagonal()) {}

  void bound(const NeighbourColumns& columns, std::span<const std::int32_t> which,
             std::span<ExcessBounds> bounds) {
    which_ = which;
    take_weights();
    make_residual(columns);
    iterate(bounds);
    multiply(e_);
    for (std::size_t c = 0; c < which_.size(); ++c) bounds[c].low = bounds[c].high = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::size_t c = 0; c < which_.size(); ++c) {
        const double left = rho_.row(i)[c] - Hp_.row(i)[c];
        const double gain = e_.row(i)[c] * (rho_.row(i)[c] + left);
        bounds[c].low += gain;
        bounds[c].high += gain + left * left / problem_.l[i];
      }
    }
    for (std::size_t c = 0; c < which_.size(); ++c) {
      bounds[c].low = std::isnan(bounds[c].low) ? 0.0 : std::max(0.0, bounds[c].low);
      if (std::isnan(bounds[c].high)) bounds[c].high = std::numeric_limits<double>::infinity();
      bounds[c].high = std::max(bounds[c].low, bounds[c].high);
    }
  }

 private:
  /// The weights of the group's columns, by user.
  void take_weights() {
    weights_.clear();
    b_.fill(0);
    for (std::size_t c = 0; c < which_.size(); ++c) {
      b_[c] = problem_.W->b_of(which_[c]);
      if (!problem_.has_weights()) continue;
      const auto users = problem_.weights().row(which_[c]);
      const auto C = problem_.weights().row_values(which_[c]);
      for (std::size_t e = 0; e < users.size(); ++e) {
        weights_.push_back(
            {users[e], static_cast<std::int32_t>(c), problem_.W->a_of(users[e]) * static_cast<double>(C[e])});
      }
    }
    std::ranges::stable_sort(weights_, {}, &UserWeight::user);
  }

  /// Hp = (H - Lambda) v: X' diag(W_:j) X v, and that of features.
  void multiply_data(const VectorGroup& v) {
    Hp_.clear();
    add_normal_product({.X = problem_.X, .a = problem_.W->a, .weights = weights_}, v, Hp_);
    add_feature_product(problem_.features, v, Hp_);
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t c = 0; c < normal_width; ++c) Hp_.row(i)[c] *= b_[c];
    }
  }

  /// Hp = H v, without a column's own coordinate where the diagonal is zero.
  void multiply(const VectorGroup& v) {
    multiply_data(v);
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t c = 0; c < normal_width; ++c) Hp_.row(i)[c] += problem_.l[i] * v.row(i)[c];
    }
    forget_own(Hp_);
  }

  void forget_own(VectorGroup& v) const {
    for (std::size_t c = 0; c < which_.size() && problem_.zero_diagonal; ++c) v.row(which_[c])[c] = 0;
  }

  /// rho = (H_j - Lambda) (e_j - beta) - Lambda beta.
  void make_residual(const NeighbourColumns& columns) {
    p_.clear();
    for (std::size_t c = 0; c < which_.size(); ++c) {
      const auto items = columns.support(which_[c]);
      const auto values = columns.entries(which_[c]);
      for (std::size_t k = 0; k < items.size(); ++k) p_.row(items[k])[c] -= double{values[k]};
      p_.row(which_[c])[c] += 1;
    }
    multiply_data(p_);
    rho_ = Hp_;
    for (std::size_t c = 0; c < which_.size(); ++c) {
      const auto items = columns.support(which_[c]);
      const auto values = columns.entries(which_[c]);
      for (std::size_t k = 0; k < items.size(); ++k)
        rho_.row(items[k])[c] -= problem_.l[items[k]] * double{values[k]};
    }
    forget_own(rho_);
  }

  /// p <- M^-1 r + beta p; M is H's diagonal without the weights.
  void direct(const Sums& beta) {
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t c = 0; c < normal_width; ++c)
        p_.row(i)[c] = r_.row(i)[c] / (b_[c] * G_diagonal_[i] + problem_.l[i]) + beta[c] * p_.row(i)[c];
    }
  }

  /// r'M^-1 r, and |r|^2 in Lambda^-1.
  void measure(Sums& rz, Sums& left) const {
    rz.fill(0);
    left.fill(0);
    for (std::int64_t i = 0; i < n_; ++i) {
      const double inverse = 1 / problem_.l[i];
      for (std::int64_t c = 0; c < normal_width; ++c) {
        const double square = r_.row(i)[c] * r_.row(i)[c];
        rz[c] += square / (b_[c] * G_diagonal_[i] + problem_.l[i]);
        left[c] += square * inverse;
      }
    }
  }

  void iterate(std::span<ExcessBounds> bounds) {
    e_.clear();
    r_ = rho_;
    p_.clear();
    Sums rz = {};
    Sums left = {};
    Sums beta = {};
    Sums gain = {};
    measure(rz, left);
    std::array<bool, normal_width> done = {};
    for (int step = 0; step < most_excess_steps; ++step) {
      bool all = true;
      for (std::size_t c = 0; c < which_.size(); ++c) {
        // The margin is for the rounding of the recurrence.
        done[c] = done[c] || rz[c] <= 0 || gain[c] + left[c] <= 0.995 * excess_bounds_apart * gain[c];
        if (!done[c]) bounds[c].steps = step + 1;
        all = all && done[c];
      }
      if (all) return;
      direct(beta);
      multiply(p_);
      Sums pHp = {};
      for (std::int64_t i = 0; i < n_; ++i) {
        for (std::int64_t c = 0; c < normal_width; ++c) pHp[c] += p_.row(i)[c] * Hp_.row(i)[c];
      }
      Sums alpha = {};
      for (std::size_t c = 0; c < which_.size(); ++c) {
        if (!done[c] && pHp[c] > 0) alpha[c] = rz[c] / pHp[c];
        gain[c] += alpha[c] * rz[c];
      }
      for (std::int64_t i = 0; i < n_; ++i) {
        for (std::int64_t c = 0; c < normal_width; ++c) {
          e_.row(i)[c] += alpha[c] * p_.row(i)[c];
          r_.row(i)[c] -= alpha[c] * Hp_.row(i)[c];
        }
      }
      const Sums before = rz;
      measure(rz, left);
      for (std::int64_t c = 0; c < normal_width; ++c) beta[c] = before[c] > 0 ? rz[c] / before[c] : 0;
    }
  }

  const NeighbourProblem& problem_;
  std::int64_t n_;
  VectorGroup rho_;
  VectorGroup e_;
  VectorGroup r_;
  VectorGroup p_;
  VectorGroup Hp_;
  std::vector<double> G_diagonal_;
  std::span<const std::int32_t> which_;
  std::vector<UserWeight> weights_;
  Sums b_ = {};
};

}  // namespace

std::vector<ExcessBounds> bound_excess(const NeighbourProblem& problem, const NeighbourColumns& columns,
                                       std::span<const std::int32_t> which, const Execution& execution) {
  std::vector<ExcessBounds> bounds(which.size());
  Pool<ColumnGroup> groups([&] { return std::make_unique<ColumnGroup>(problem); });
  const Tiling tiling{std::ssize(which), normal_width};
  Progress progress(execution.observer, "comparing with the dense optimum", which.size(), "columns");
  for_each_tile(tiling.tiles(), execution.threads, [&](std::int64_t tile) {
    const std::int64_t first = tiling.first(tile);
    const std::int64_t count = tiling.last(tile) - first;
    groups.take()->bound(columns, which.subspan(first, count), std::span(bounds).subspan(first, count));
    progress.advance(count);
  });
  return bounds;
}

}  // namespace poise
