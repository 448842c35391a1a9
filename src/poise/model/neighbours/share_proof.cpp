#include "poise/model/neighbours/share_proof.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "poise/base/counter_stream.hpp"
#include "poise/base/pool.hpp"
#include "poise/model/neighbours/normal_products.hpp"
#include "poise/model/neighbours/weighted_entries.hpp"
#include "poise/solver/certificate.hpp"
#include "poise/solver/probes.hpp"
#include "poise/solver/trace_bound.hpp"

namespace poise {
namespace {

constexpr std::int64_t proof_probes = 32;
/// Conjugate gradients stop where what they leave is this part of a form.
constexpr double left_of_form = 0.05;
constexpr int most_proof_steps = 100;

using GroupSums = std::array<double, normal_width>;

struct ProbeSums {
  GroupSums form = {};
  GroupSums remainder = {};
  GroupSums squares = {};  // |Kz|^2
};

/// What is the same for all groups of probes.
struct Proof {
  const NeighbourProblem& problem;
  const NeighbourColumns& columns;
  std::vector<double> scale;       // s_j
  std::vector<double> diagonal;    // of A
  std::vector<double> correction;  // of a column's own coordinate
  EntryErrors errors = {};
};

/// normal_width probes, on one thread.
class ProbeGroup {
 public:
  explicit ProbeGroup(const Proof& proof)
      : proof_(proof),
        problem_(proof.problem),
        n_(problem_.items()),
        z_(n_),
        y_(n_),
        e_(n_),
        r_(n_),
        p_(n_),
        Ap_(n_) {}

  ProbeSums run(std::int64_t group) {
    draw(group);
    make_y();
    iterate();
    return finish();
  }

 private:
  [[nodiscard]] double least(std::int64_t i) const { return problem_.l[i] / problem_.b_bar; }
  [[nodiscard]] const EntryErrors* errors() const {
    return problem_.has_weights() ? &proof_.errors : nullptr;
  }

  /// z, its rows scaled.
  void draw(std::int64_t group) {
    for (std::int64_t i = 0; i < n_; ++i) {
      CounterStream random(static_cast<std::uint64_t>(group), static_cast<std::uint64_t>(ProbeStream::share),
                           static_cast<std::uint64_t>(i));
      for (std::int64_t c = 0; c < normal_width; ++c) z_.row(i)[c] = proof_.scale[i] * random.normal();
    }
  }

  /// to += factor B (b o v), or B v.
  void add_B(double factor, const VectorGroup& v, bool with_b, VectorGroup& to) const {
    for (std::int64_t j = 0; j < n_; ++j) {
      const auto items = proof_.columns.support(j);
      const auto values = proof_.columns.entries(j);
      const double scale = factor * (with_b ? problem_.W->b_of(j) : 1.0);
      for (std::size_t k = 0; k < items.size(); ++k) {
        const double value = scale * double{values[k]};
        double* const row = to.row(items[k]);
        for (std::int64_t c = 0; c < normal_width; ++c) row[c] += value * v.row(j)[c];
      }
    }
  }

  /// y = R S z less d o S z: G (b z - B b z) + X'E z - Lambda B z, and the own coordinates as they are
  /// chosen.
  void make_y() {
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t c = 0; c < normal_width; ++c) p_.row(i)[c] = problem_.W->b_of(i) * z_.row(i)[c];
    }
    add_B(-1, z_, true, p_);
    y_.clear();
    add_normal_product({.X = problem_.X, .a = problem_.W->a, .errors = errors(), .Z = &z_}, p_, y_);
    add_feature_product(problem_.features, p_, y_);
    p_.clear();
    add_B(1, z_, false, p_);
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t c = 0; c < normal_width; ++c)
        y_.row(i)[c] += proof_.correction[i] * z_.row(i)[c] - problem_.l[i] * p_.row(i)[c];
    }
  }

  /// Ap = A v.
  void multiply(const VectorGroup& v) {
    Ap_.clear();
    add_normal_product({.X = problem_.X, .a = problem_.W->a}, v, Ap_);
    add_feature_product(problem_.features, v, Ap_);
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t c = 0; c < normal_width; ++c) Ap_.row(i)[c] += least(i) * v.row(i)[c];
    }
  }

  void iterate() {
    e_.clear();
    r_ = y_;
    p_.clear();
    GroupSums rz = {};
    GroupSums beta = {};
    GroupSums gain = {};
    for (int step = 0; step <= most_proof_steps; ++step) {
      const GroupSums before = rz;
      rz.fill(0);
      GroupSums left = {};
      for (std::int64_t i = 0; i < n_; ++i) {
        for (std::int64_t c = 0; c < normal_width; ++c) {
          const double square = r_.row(i)[c] * r_.row(i)[c];
          rz[c] += square / proof_.diagonal[i];
          left[c] += square / least(i);
        }
      }
      bool done = true;
      for (std::int64_t c = 0; c < normal_width; ++c) {
        done = done && left[c] <= left_of_form * gain[c];
        beta[c] = before[c] > 0 ? rz[c] / before[c] : 0;
      }
      if (done || step == most_proof_steps) return;
      for (std::int64_t i = 0; i < n_; ++i) {
        for (std::int64_t c = 0; c < normal_width; ++c)
          p_.row(i)[c] = r_.row(i)[c] / proof_.diagonal[i] + beta[c] * p_.row(i)[c];
      }
      multiply(p_);
      GroupSums pAp = {};
      for (std::int64_t i = 0; i < n_; ++i) {
        for (std::int64_t c = 0; c < normal_width; ++c) pAp[c] += p_.row(i)[c] * Ap_.row(i)[c];
      }
      GroupSums alpha = {};
      for (std::int64_t c = 0; c < normal_width; ++c) {
        if (pAp[c] > 0) alpha[c] = rz[c] / pAp[c];
        gain[c] += alpha[c] * rz[c];
      }
      for (std::int64_t i = 0; i < n_; ++i) {
        for (std::int64_t c = 0; c < normal_width; ++c) {
          e_.row(i)[c] += alpha[c] * p_.row(i)[c];
          r_.row(i)[c] -= alpha[c] * Ap_.row(i)[c];
        }
      }
    }
  }

  /// The bounds from products with X, and K z = S (R'e less d o e),
  ///     rho_i . e = b_i ((G e)_i - B_:i . G e) - B_:i . Lambda e + (E'X e)_i.
  ProbeSums finish() {
    VectorGroup& Ge = Ap_;
    VectorGroup& dots = p_;
    Ge.clear();
    dots.clear();
    add_normal_product({.X = problem_.X, .a = problem_.W->a, .errors = errors(), .sums = &dots}, e_, Ge);
    add_feature_product(problem_.features, e_, Ge);
    ProbeSums sums;
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t c = 0; c < normal_width; ++c) {
        const double e = e_.row(i)[c];
        const double y = y_.row(i)[c];
        const double r = y - Ge.row(i)[c] - least(i) * e;
        const double square = r * r / least(i);
        sums.form[c] += e * (y + r) + square;
        sums.remainder[c] += square;
      }
    }
    for (std::int64_t j = 0; j < n_; ++j) {
      const auto items = proof_.columns.support(j);
      const auto values = proof_.columns.entries(j);
      const double b = problem_.W->b_of(j);
      GroupSums own = {};
      for (std::size_t k = 0; k < items.size(); ++k) {
        const double value = values[k];
        const double l = problem_.l[items[k]];
        for (std::int64_t c = 0; c < normal_width; ++c)
          own[c] -= value * (b * Ge.row(items[k])[c] + l * e_.row(items[k])[c]);
      }
      for (std::int64_t c = 0; c < normal_width; ++c) {
        const double Kz = proof_.scale[j] *
                          (own[c] + b * Ge.row(j)[c] + dots.row(j)[c] + proof_.correction[j] * e_.row(j)[c]);
        sums.squares[c] += Kz * Kz;
      }
    }
    return sums;
  }

  const Proof& proof_;
  const NeighbourProblem& problem_;
  std::int64_t n_;
  VectorGroup z_;
  VectorGroup y_;
  VectorGroup e_;
  VectorGroup r_;
  VectorGroup p_;
  VectorGroup Ap_;
};

}  // namespace

double prove_excess(const NeighbourProblem& problem, const NeighbourColumns& columns,
                    std::span<const NeighbourFigures> figures, std::span<const double> own,
                    const Execution& execution) {
  const std::int64_t n = problem.items();
  Proof proof{problem, columns, std::vector<double>(n), problem.diagonal(), std::vector<double>(n)};
  const std::vector<double> errors = weighted_errors(problem, columns, execution);
  proof.errors = {problem.W->support, errors};
  for (std::int64_t i = 0; i < n; ++i) {
    const double b = problem.W->b_of(i);
    proof.scale[i] = 1 / std::sqrt(std::min(problem.W->lowest, problem.b_bar / b) * b);
    proof.diagonal[i] += problem.l[i] / problem.b_bar;
    // R_ii = observed - beta'c.
    if (problem.zero_diagonal) proof.correction[i] = own[i] - (figures[i].observed - figures[i].along);
  }
  Pool<ProbeGroup> groups([&] { return std::make_unique<ProbeGroup>(proof); });
  std::vector<ProbeSums> sums(proof_probes / normal_width);
  Progress progress(execution.observer, "proving", proof_probes, "probes");
  for_each_tile(std::ssize(sums), execution.threads, [&](std::int64_t group) {
    sums[group] = groups.take()->run(group);
    progress.advance(normal_width);
  });
  std::vector<double> forms;
  double remainder = 0;
  double squares = 0;
  for (const ProbeSums& group : sums) {
    forms.insert(forms.end(), group.form.begin(), group.form.end());
    remainder = std::accumulate(group.remainder.begin(), group.remainder.end(), remainder);
    squares = std::accumulate(group.squares.begin(), group.squares.end(), squares);
  }
  return bound_trace(forms, squares, std::sqrt(remainder), certificate_doubt);
}

}  // namespace poise
