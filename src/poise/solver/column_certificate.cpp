#include "poise/solver/column_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "poise/solver/diagonal_bound.hpp"
#include "poise/solver/probes.hpp"

namespace poise {

namespace {

/// Probes of the sum: the more, the closer the bound is to the truth (2.4 times it at 128, 8 times at 32).
/// From so many items on they are to take little of the time of an inverse, n^3.
constexpr std::int64_t many_items = 8000;
constexpr std::int64_t sum_probes_few = 128;
constexpr std::int64_t sum_probes_many = 32;
/// Probes of each column. Weighted columns are solved to the tolerance, not to the last bit, and need closer
/// bounds.
constexpr std::int64_t column_probes_direct = 16;
constexpr std::int64_t column_probes_weighted = 64;
/// Of these, those that look for errors that all columns share.
constexpr std::int64_t basis_probes_weighted = 24;
constexpr std::int64_t choice_probes = 4;
/// Shares of the doubt.
constexpr double sum_doubt = certificate_doubt / 4;
constexpr double sum_again_doubt = certificate_doubt / 4;
constexpr double columns_doubt = certificate_doubt / 2;

/// What remainders may be of the forms: for the sum, and, times 1 / n, for each column.
constexpr double sum_remainder = 0.05;
constexpr double column_remainder = 0.01;

constexpr double unknown = std::numeric_limits<double>::infinity();

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Draws of several streams side by side.
Matrix<double> draw_sets(const std::vector<std::pair<ProbeStream, std::int64_t>>& sets, std::int64_t items,
                         int threads) {
  std::int64_t probes = 0;
  for (const auto& set : sets) probes += set.second;
  Matrix<double> z(items, probes);
  std::int64_t at = 0;
  for (const auto& [stream, count] : sets) {
    const Matrix<double> drawn = draw_probes(stream, items, count, threads);
    for (std::int64_t i = 0; i < items; ++i) std::copy_n(drawn.row(i).begin(), count, z.row(i).begin() + at);
    at += count;
  }
  return z;
}

/// The ratio of a column's excess to what it explains, from a bound K on its ratio to t = beta'c. It explains
/// t + beta'rho, and |beta'rho| <= sqrt(beta'H beta * excess), beta'H beta = t - beta'rho: at least t (1 - 2
/// sqrt(K)) for small K.
double ratio_of(double K) {
  const double root = std::sqrt(K);
  return root < 0.25 ? K / (1 - 2 * root) : unknown;
}

}  // namespace

ColumnCertificate::ColumnCertificate(const SharedSystem& A, std::vector<double> observed, bool zero_diagonal,
                                     Backend& backend, const Execution& execution)
    : A_(A),
      problem_(A.problem()),
      observed_(std::move(observed)),
      zero_diagonal_(zero_diagonal),
      backend_(backend),
      execution_(execution),
      n_(problem_.items()),
      sum_probes_(n_ < many_items ? sum_probes_few : sum_probes_many),
      column_probes_(problem_.W->c.empty() && problem_.W->b.empty() ? column_probes_direct
                                                                    : column_probes_weighted),
      basis_probes_(column_probes_ == column_probes_weighted ? basis_probes_weighted : 0),
      choice_probes_(zero_diagonal ? choice_probes : 0),
      probes_(A,
              draw_sets({{ProbeStream::sum, sum_probes_},
                         {ProbeStream::columns, column_probes_},
                         {ProbeStream::choice, choice_probes_}},
                        n_, execution.threads),
              backend),
      explained_(n_, 0.0),
      ratio_(n_, unknown),
      excess_(n_, 0.0),
      verified_(n_, 0) {}

double ColumnCertificate::scale(std::int32_t i) const {
  return 1 / std::sqrt(problem_.lo(i) * problem_.W->b_of(i));
}

double ColumnCertificate::column_scale(std::int32_t i) const {
  // A column that explains next to nothing is measured against what counts as nothing.
  const double against = std::max(explained_[i], negligible_share * observed_[i]);
  return against > 0 ? scale(i) / std::sqrt(against) : 0.0;
}

void ColumnCertificate::add(std::span<const std::int32_t> items, MatrixView<const float> beta,
                            std::span<const double> explained, std::span<const double> own) {
  if (!own.empty() && own_.empty()) own_.assign(n_, 0.0);
  for (std::size_t k = 0; k < items.size(); ++k) {
    const std::int32_t i = items[k];
    explained_[i] = explained[k];
    if (!own.empty()) own_[i] = own[k];
    const double of_sum = scale(i);
    const double of_column = column_scale(i);
    const auto z = probes_.z().row(i);
    for (std::int64_t p = 0; p < static_cast<std::int64_t>(z.size()); ++p)
      z[p] *= p >= sum_probes_ && p < sum_probes_ + column_probes_ ? of_column : of_sum;
  }
  probes_.add(items, beta);
}

Matrix<double> ColumnCertificate::probes_of(const Matrix<double>& y, const Matrix<double>& z,
                                            std::span<const double> d, std::int64_t first,
                                            std::int64_t count) const {
  Matrix<double> part(n_, count);
  for (std::int64_t i = 0; i < n_; ++i) {
    for (std::int64_t p = 0; p < count; ++p)
      part(i, p) = y(i, first + p) - (d.empty() ? 0.0 : d[i] * z(i, first + p));
  }
  return part;
}

void ColumnCertificate::choose_diagonal(ApproximateInverse& P) {
  if (!zero_diagonal_) return;
  std::vector<double> saved(n_);
  for (std::int64_t i = 0; i < n_; ++i) saved[i] = observed_[i] - explained_[i];
  if (own_.empty()) {
    d_ = std::move(saved);
    return;
  }
  // Both in one product with P.
  const std::int64_t first = sum_probes_ + column_probes_;
  const Matrix<double> of_own = probes_of(y_, probes_.z(), own_, first, choice_probes_);
  const Matrix<double> of_saved = probes_of(y_, probes_.z(), saved, first, choice_probes_);
  Matrix<double> both(n_, 2 * choice_probes_);
  for (std::int64_t i = 0; i < n_; ++i) {
    std::ranges::copy(of_own.row(i), both.row(i).begin());
    std::ranges::copy(of_saved.row(i), both.row(i).begin() + choice_probes_);
  }
  const std::vector<double> form = bound_inverse_forms(A_, P, both, sum_remainder).form;
  const auto middle = form.begin() + choice_probes_;
  const bool own_is_closer =
      std::accumulate(form.begin(), middle, 0.0) <= std::accumulate(middle, form.end(), 0.0);
  d_ = own_is_closer ? own_ : std::move(saved);
}

void ColumnCertificate::bound_sum(ApproximateInverse& P, const ColumnProbes& probes, const Matrix<double>& z,
                                  const Matrix<double>& y, double doubt) {
  const Matrix<double> part = probes_of(y, z, d_, 0, sum_probes_);
  const InverseForms forms = bound_inverse_forms(A_, P, part, sum_remainder);
  sum_ = sum_of(forms.form) * probe_factor(sum_probes_, doubt);
  settled_ = std::isfinite(sum_) && sum_of(forms.remainder) <= sum_remainder * sum_of(forms.form);
  // E (B S z)'(R S z) = sum of s_i^2 beta'rho; where s_i is the same for all columns that is what is sought.
  const double squared = scale(0) * scale(0);
  const Matrix<double> Bz = probes.columns();
  double total = 0;
  double squares = 0;
  for (std::int64_t p = 0; p < sum_probes_; ++p) {
    double dot = 0;
    for (std::int64_t i = 0; i < n_; ++i) dot += Bz(i, p) * part(i, p);
    total += dot / squared;
    squares += dot / squared * (dot / squared);
  }
  const auto count = static_cast<double>(sum_probes_);
  slope_ = total / count;
  slope_error_ = std::sqrt(std::max(0.0, squares / count - slope_ * slope_) / count);
}

void ColumnCertificate::bound_columns(ApproximateInverse& P, MatrixView<const float> columns,
                                      std::int64_t block) {
  const InverseForms forms =
      bound_inverse_forms(A_, P, probes_of(y_, probes_.z(), d_, sum_probes_, column_probes_),
                          column_remainder / static_cast<double>(n_));
  Matrix<double> z(n_, column_probes_);   // as it was drawn
  Matrix<double> Kz(n_, column_probes_);  // S R'e
  const Tiling tiling{n_, block};
  for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
    stop_if_asked(execution_.observer);
    const std::int64_t first = tiling.first(tile);
    std::vector<std::int32_t> items(tiling.last(tile) - first);
    std::iota(items.begin(), items.end(), static_cast<std::int32_t>(first));
    const Matrix<double> dots = residual_dots(
        A_, items, columns.block(first, static_cast<std::int64_t>(items.size())), forms, backend_);
    for (std::size_t k = 0; k < items.size(); ++k) {
      const std::int32_t i = items[k];
      const double s = column_scale(i);
      if (s == 0) continue;
      for (std::int64_t p = 0; p < column_probes_; ++p) {
        const double own = d_.empty() ? 0.0 : d_[i] * forms.e(i, p);
        z(i, p) = probes_.z()(i, sum_probes_ + p) / s;
        Kz(i, p) = s * (dots(static_cast<std::int64_t>(k), p) - own);
      }
    }
  }
  const std::vector<double> K =
      bound_diagonal(z, Kz, std::sqrt(sum_of(forms.remainder)), basis_probes_, columns_doubt);
  for (std::int32_t i = 0; i < n_; ++i) {
    const double ratio = column_scale(i) == 0 ? 0.0 : ratio_of(K[i]);  // 0: nobody has the item
    ratio_[i] = std::isnan(ratio) ? unknown : ratio;
  }
}

void ColumnCertificate::prove(ApproximateInverse& P, MatrixView<const float> columns, std::int64_t block) {
  if (y_.rows() == 0) y_ = probes_.residuals();
  choose_diagonal(P);
  bound_sum(P, probes_, probes_.z(), y_, sum_doubt);
  bound_columns(P, columns, block);
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

void ColumnCertificate::prove_again(ApproximateInverse& P, MatrixView<const float> columns,
                                    std::int64_t block) {
  sum_ = 0;
  slope_ = 0;
  slope_error_ = 0;
  if (std::ranges::all_of(verified_, [](char verified) { return verified != 0; })) return;
  Matrix<double> z = draw_probes(ProbeStream::sum_again, n_, sum_probes_, execution_.threads);
  for (std::int32_t i = 0; i < n_; ++i) {
    for (double& entry : z.row(i)) entry *= verified_[i] != 0 ? 0.0 : scale(i);
  }
  ColumnProbes probes(A_, std::move(z), backend_);
  const Tiling tiling{n_, block};
  for (std::int64_t tile = 0; tile < tiling.tiles(); ++tile) {
    stop_if_asked(execution_.observer);
    const std::int64_t first = tiling.first(tile);
    std::vector<std::int32_t> items(tiling.last(tile) - first);
    std::iota(items.begin(), items.end(), static_cast<std::int32_t>(first));
    probes.add(items, columns.block(first, static_cast<std::int64_t>(items.size())));
  }
  bound_sum(P, probes, probes.z(), probes.residuals(), sum_again_doubt);
}

Certificate ColumnCertificate::certificate() const {
  Certificate certificate;
  certificate.absolute = sum_ + sum_of(excess_);
  certificate.relative = relative_excess(certificate.absolute, sum_of(explained_));
  certificate.worst_column = n_ > 0 ? *std::max_element(ratio_.begin(), ratio_.end()) : 0.0;
  certificate.verified_columns = std::count(verified_.begin(), verified_.end(), 1);
  certificate.probability = certificate.verified_columns < n_ ? 1 - certificate_doubt : 1.0;
  return certificate;
}

EstimatedObjective ColumnCertificate::objective() const {
  // Six standard errors hold for a normal number but for a chance of 1e-9. The value is taken above the
  // estimate, so that it is not below what no B can reach.
  constexpr double errors = 6;
  const double stationary = sum_of(observed_) - sum_of(explained_);
  if (problem_.W->b.empty())
    return {stationary - slope_ + 0.5 * errors * slope_error_, 1.5 * errors * slope_error_};
  // |sum of beta'rho| <= sqrt(sum of beta'H beta * sum of excesses), up to the slopes in the first.
  const double error = std::sqrt(std::max(0.0, sum_of(explained_)) * sum_);
  return {stationary + error, 2 * error};
}

}  // namespace poise
