#include "poise/solver/column_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "poise/linalg/precision.hpp"
#include "poise/linalg/vector.hpp"
#include "poise/solver/column_parts.hpp"
#include "poise/solver/diagonal_bound.hpp"
#include "poise/solver/trace_bound.hpp"

namespace poise {

namespace {

/// More probes give closer bounds: the bound on the sum is at most 3.4 times the truth with 64, 6 times with
/// 32 and 16 times with 16, and far less unless a few directions hold all errors. From `many_items` items on,
/// probes should take little time compared with an inverse, n^3. Weighted columns are solved to the
/// tolerance, not to the last bit, and need closer bounds.
constexpr std::int64_t many_items = 8000;
constexpr std::int64_t probes_few_items = 64;
constexpr std::int64_t probes_iterated = 32;
constexpr std::int64_t probes_direct = 16;
constexpr std::int64_t probes_by_ratio = 64;
/// The probes that choose the diagonal, and how much better the saved columns' diagonal must be: so few
/// probes cannot distinguish nearly equal ones.
constexpr std::int64_t choice_probes = 4;
constexpr double clearly = 2;

/// How many probes are followed together: a product with A^-1 or B reads all of it, and their vectors, a
/// dozen numbers an item for each, are to be little beside the matrices of items x items.
constexpr std::int64_t followed = 32;
constexpr std::int64_t followed_few_items = 16;

/// Shares of the doubt. The diagonal is one of two, so the bounds from the first probes must hold for both,
/// and those by ratio for both and for columns that were not measured. The last probes have one diagonal.
constexpr double sum_doubt = certificate_doubt / 8;
constexpr double columns_doubt = certificate_doubt / 8;
constexpr double by_ratio_doubt = certificate_doubt / 12;
constexpr double again_doubt = certificate_doubt / 4;

/// The largest remainders as a share of the forms: for the sum, and, times 1 / n, for each column.
constexpr double sum_remainder = 0.05;
constexpr double column_remainder = 0.01;

constexpr double unknown = std::numeric_limits<double>::infinity();

/// Probes that find errors common to all columns, which arise when columns are iterated equally long.
std::int64_t basis_of(std::int64_t probes, bool iterated) { return iterated ? 3 * probes / 8 : 0; }

/// The ratio of a column's excess to what it explains, from a bound K on its ratio to t = beta'c. It explains
/// t + beta'rho, and |beta'rho| <= sqrt(beta'H beta * excess), beta'H beta = t - beta'rho: at least t (1 - 2
/// sqrt(K)) for small K.
double ratio_of(double K) {
  const double root = std::sqrt(K);
  return root < 0.25 ? K / (1 - 2 * root) : unknown;
}

Matrix<double> side_by_side(const Matrix<double>& left, const Matrix<double>& right) {
  Matrix<double> both(left.rows(), left.cols() + right.cols());
  for (std::int64_t i = 0; i < left.rows(); ++i) {
    std::ranges::copy(left.row(i), both.row(i).begin());
    std::ranges::copy(right.row(i), both.row(i).begin() + left.cols());
  }
  return both;
}

}  // namespace

ColumnCertificate::ColumnCertificate(const SharedSystem& A, std::vector<double> observed, bool zero_diagonal,
                                     Backend& backend, const Execution& execution, const ColumnShare* share)
    : A_(A),
      problem_(A.problem()),
      errors_(problem_, A.users_of(), backend, execution, share),
      observed_(std::move(observed)),
      zero_diagonal_(zero_diagonal),
      backend_(backend),
      execution_(execution),
      share_(share),
      n_(problem_.items()),
      explained_(n_, 0.0),
      ratio_(n_, unknown),
      excess_(n_, 0.0),
      verified_(n_, 0) {}

std::int64_t ColumnCertificate::count() const {
  if (n_ < many_items) return probes_few_items;
  return iterated_ ? probes_iterated : probes_direct;
}

double ColumnCertificate::scale(std::int32_t i) const {
  return 1 / std::sqrt(problem_.lo(i) * problem_.W->b_of(i));
}

double ColumnCertificate::against(std::int32_t i) const {
  if (observed_[i] == 0) return 0;
  // A column that explains almost nothing is compared with the negligible share instead.
  return std::max({0.0, explained_[i], negligible_share * observed_[i]});
}

double ColumnCertificate::proven_ratio(std::int32_t i, double K) const {
  const double t =
      measured_ ? against(i)
                : std::max(explained_[i] - std::sqrt(diagonal(i) * K), negligible_share * observed_[i]);
  return ratio_of(K / t);
}

double ColumnCertificate::least_explained() const {
  const double explained = sum_of(explained_);
  if (measured_) return explained;
  double trace = 0;  // |tr Y| <= sqrt(tr A tr K)
  for (std::int32_t i = 0; i < n_; ++i) trace += diagonal(i);
  return std::max(0.0, explained - std::sqrt(trace * sum_));
}

void ColumnCertificate::add(std::span<const std::int32_t> items, In<float> beta,
                            std::span<const double> explained, std::span<const double> own,
                            std::span<const double> scores) {
  if (!own.empty() && own_.empty()) own_.assign(n_, 0.0);
  for (std::size_t k = 0; k < items.size(); ++k) {
    explained_[items[k]] = explained[k];
    if (!own.empty()) own_[items[k]] = own[k];
  }
  errors_.add(items, beta, scores);
}

void ColumnCertificate::join_added() {
  if (share_ == nullptr) return;
  share_->join(explained_);
  // A process without columns does not know whether there are multipliers.
  if (share_->largest(own_.empty() ? 0 : 1) == 0) return;
  own_.resize(n_, 0.0);
  share_->join(own_);
}

ColumnCertificate::Probes ColumnCertificate::draw(const Findings& of, std::int64_t first, std::int64_t count,
                                                  SavedColumns columns) const {
  Probes probes{.z = draw_probes(of.stream, n_, first, count, execution_.threads), .made = {}};
  for (std::int64_t i = 0; i < n_; ++i) {
    for (double& entry : probes.z.row(i)) entry *= of.s[i];
  }
  probes.made = residual_products(A_, errors_, columns, probes.z, backend_);
  return probes;
}

Matrix<double> ColumnCertificate::lowered(const Probes& probes, std::span<const double> d,
                                          std::int64_t count) const {
  Matrix<double> y = columns_of(probes.made.R, 0, count);
  for (std::int64_t i = 0; i < n_ && !d.empty(); ++i) {
    for (std::int64_t p = 0; p < count; ++p) y(i, p) -= d[i] * probes.z(i, p);
  }
  return y;
}

InverseForms ColumnCertificate::choose_diagonal(const Probes& probes, ApproximateInverse& P, double share) {
  const std::int64_t count = probes.z.cols();
  if (!zero_diagonal_) return bound_inverse_forms(A_, P, lowered(probes, {}, count), share);
  std::vector<double> saved(n_);
  for (std::int64_t i = 0; i < n_; ++i) saved[i] = observed_[i] - explained_[i];
  if (!own_.empty()) {
    // Both in one product with P.
    const Matrix<double> y = lowered(probes, own_, count);
    const Matrix<double> y_saved = lowered(probes, saved, choice_probes);
    Matrix<double> e = P.apply(side_by_side(y, y_saved));
    const InverseForms forms_saved =
        bound_inverse_forms(A_, P, y_saved, sum_remainder, columns_of(e, count, choice_probes));
    e = columns_of(e, 0, count);
    InverseForms forms = bound_inverse_forms(A_, P, y, share, std::move(e));
    const double of_own = std::accumulate(forms.form.begin(), forms.form.begin() + choice_probes, 0.0);
    if (of_own <= clearly * sum_of(forms_saved.form)) {
      d_ = own_;
      return forms;
    }
  }
  d_ = std::move(saved);
  return bound_inverse_forms(A_, P, lowered(probes, d_, count), share);
}

Matrix<double> ColumnCertificate::products_of_K(const Findings& of, const InverseForms& forms,
                                                SavedColumns columns) const {
  Matrix<double> Kz = residual_dots(A_, errors_, columns, forms, backend_);
  for (std::int64_t i = 0; i < n_; ++i) {
    for (std::int64_t p = 0; p < Kz.cols(); ++p)
      Kz(i, p) = of.s[i] * (Kz(i, p) - (d_.empty() ? 0.0 : d_[i] * forms.e(i, p)));
  }
  return Kz;
}

void ColumnCertificate::follow(Findings& findings, ApproximateInverse& P, SavedColumns columns, double share,
                               bool choose) {
  // E (B S z)'(R S z) = sum of s_i^2 beta'rho, the wanted sum if s_i is the same for all columns. The term of
  // d o z has mean 0 and reduces the variance. E z'Y z = tr Y.
  const double squared = scale(0) * scale(0);
  findings.Kz = Matrix<double>(n_, findings.count);
  findings.draws.assign(findings.count, 0.0);
  const Tiling parts{findings.count, n_ < many_items ? followed_few_items : followed};
  for (std::int64_t part = 0; part < parts.tiles(); ++part) {
    const std::int64_t first = parts.first(part);
    const std::int64_t count = parts.last(part) - first;
    Probes probes = draw(findings, first, count, columns);
    const InverseForms forms = choose && part == 0
                                   ? choose_diagonal(probes, P, share)
                                   : bound_inverse_forms(A_, P, lowered(probes, d_, count), share);
    const Matrix<double> y = lowered(probes, d_, count);
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t p = 0; p < count; ++p)
        findings.draws[first + p] +=
            (probes.made.B(i, p) - (measured_ ? 0.0 : probes.z(i, p))) * y(i, p) / squared;
    }
    probes = {};
    findings.form.insert(findings.form.end(), forms.form.begin(), forms.form.end());
    findings.remainder.insert(findings.remainder.end(), forms.remainder.begin(), forms.remainder.end());
    const Matrix<double> Kz = products_of_K(findings, forms, columns);
    for (std::int64_t i = 0; i < n_; ++i) std::ranges::copy(Kz.row(i), findings.Kz.row(i).begin() + first);
  }
}

void ColumnCertificate::bound_sum(const Findings& found, double doubt) {
  const double remainder = sum_of(found.remainder);
  sum_ = bound_trace(found.form, found.Kz, std::sqrt(remainder), doubt);
  settled_ = std::isfinite(sum_) && remainder <= sum_remainder * sum_of(found.form);
  slope_ = sum_of(found.draws) / static_cast<double>(found.count);
  slope_error_ = error_of_mean(found.draws, certificate_doubt);
}

void ColumnCertificate::bound_columns(const Findings& found, bool by_ratio, double doubt) {
  Matrix<double> z = draw_probes(found.stream, n_, 0, found.count, execution_.threads);
  for (std::int64_t i = 0; i < n_; ++i) {
    if (!(found.s[i] > 0)) std::ranges::fill(z.row(i), 0.0);
  }
  const std::vector<double> K =
      bound_diagonal(z, found.Kz, std::sqrt(sum_of(found.remainder)), basis_of(z.cols(), iterated_), doubt);
  for (std::int32_t i = 0; i < n_; ++i) {
    if (against(i) == 0) {
      ratio_[i] = 0;  // no user has the item
    } else {
      const double ratio =
          by_ratio && measured_ ? ratio_of(K[i]) : proven_ratio(i, by_ratio ? K[i] * against(i) : K[i]);
      if (!std::isnan(ratio)) ratio_[i] = std::min(ratio_[i], ratio);
    }
  }
}

void ColumnCertificate::prove(ApproximateInverse& P, SavedColumns columns, double tolerance) {
  if (n_ == 0) return;
  if (!std::exchange(joined_, true)) join_added();
  const double share = column_remainder / static_cast<double>(n_);
  {
    Findings first{.stream = ProbeStream::sum, .count = count(), .s = std::vector<double>(n_)};
    for (std::int32_t i = 0; i < n_; ++i) first.s[i] = scale(i);
    follow(first, P, columns, share, true);
    bound_sum(first, sum_doubt);
    bound_columns(first, false, columns_doubt);
  }
  if (missing(tolerance).empty()) return;
  Findings by_ratio{.stream = ProbeStream::columns, .count = probes_by_ratio, .s = std::vector<double>(n_)};
  for (std::int32_t i = 0; i < n_; ++i)
    by_ratio.s[i] = against(i) > 0 ? scale(i) / std::sqrt(against(i)) : 0.0;
  follow(by_ratio, P, columns, share, false);
  bound_columns(by_ratio, true, by_ratio_doubt);
}

std::vector<std::int32_t> ColumnCertificate::missing(double tolerance) const {
  std::vector<std::int32_t> items;
  for (std::int32_t i = 0; i < n_; ++i) {
    if (!(ratio_[i] <= tolerance)) items.push_back(i);
  }
  return items;
}

void ColumnCertificate::verify(std::int32_t i, double explained, double excess, double ratio) {
  verified_[i] = 1;
  explained_[i] = explained;
  excess_[i] = excess;
  ratio_[i] = ratio;
}

void ColumnCertificate::prove_again(ApproximateInverse& P, SavedColumns columns) {
  if (share_ != nullptr) {
    std::vector<double> verified(verified_.begin(), verified_.end());
    for (std::vector<double>* each : {&explained_, &excess_, &ratio_, &verified}) share_->join(*each);
    std::ranges::transform(verified, verified_.begin(), [](double flag) { return flag != 0 ? 1 : 0; });
  }
  sum_ = 0;
  slope_ = 0;
  slope_error_ = 0;
  if (std::ranges::all_of(verified_, [](char verified) { return verified != 0; })) return;
  Findings again{.stream = ProbeStream::sum_again, .count = count(), .s = std::vector<double>(n_)};
  for (std::int32_t i = 0; i < n_; ++i) again.s[i] = verified_[i] != 0 ? 0.0 : scale(i);
  follow(again, P, columns, sum_remainder, false);
  bound_sum(again, again_doubt);
}

Certificate ColumnCertificate::certificate() const {
  Certificate certificate;
  certificate.absolute = sum_ + sum_of(excess_);
  certificate.relative = relative_excess(certificate.absolute, least_explained());
  certificate.worst_column = n_ > 0 ? *std::max_element(ratio_.begin(), ratio_.end()) : 0.0;
  certificate.verified_columns = std::count(verified_.begin(), verified_.end(), 1);
  certificate.probability = certificate.verified_columns < n_ ? 1 - certificate_doubt : 1.0;
  return certificate;
}

EstimatedObjective ColumnCertificate::objective() const {
  const double stationary = sum_of(observed_) - sum_of(explained_);
  // The value lies above the estimate, so that it is not below the minimum.
  if (problem_.W->b.empty()) return {stationary - slope_ + 0.5 * slope_error_, 1.5 * slope_error_};
  // |sum of beta'rho| <= sqrt(sum of beta'H beta * sum of excesses), up to the slopes in the first.
  const double error = std::sqrt(std::max(0.0, sum_of(explained_)) * sum_);
  return {stationary + error, 2 * error};
}

}  // namespace poise
