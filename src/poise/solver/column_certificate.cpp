#include "poise/solver/column_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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
      choice_probes_(zero_diagonal ? choice_probes : 0),
      explained_(n_, 0.0),
      ratio_(n_, unknown),
      excess_(n_, 0.0),
      verified_(n_, 0) {
  Matrix<double> z(n_, sum_probes_ + column_probes_ + choice_probes_);
  std::int64_t at = 0;
  const auto draw = [&](ProbeStream stream, std::int64_t count) {
    const Matrix<double> drawn = draw_probes(stream, n_, count, execution.threads);
    for (std::int64_t i = 0; i < n_; ++i) std::copy_n(drawn.row(i).begin(), count, z.row(i).begin() + at);
    at += count;
  };
  draw(ProbeStream::sum, sum_probes_);
  draw(ProbeStream::columns, column_probes_);
  draw(ProbeStream::choice, choice_probes_);
  probes_.emplace(A, std::move(z), backend);
}

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
    const auto z = probes_->z().row(i);
    for (std::int64_t p = 0; p < static_cast<std::int64_t>(z.size()); ++p)
      z[p] *= p >= sum_probes_ && p < sum_probes_ + column_probes_ ? of_column : of_sum;
  }
  probes_->add(items, beta);
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

void ColumnCertificate::choose_diagonal(ApproximateInverse& P, const Matrix<double>& y) {
  std::vector<double> saved(n_);
  for (std::int64_t i = 0; i < n_; ++i) saved[i] = observed_[i] - explained_[i];
  if (own_.empty()) {
    own_ = std::move(saved);
    return;
  }
  const auto expected = [&](std::span<const double> d) {
    const Matrix<double> part = probes_of(y, probes_->z(), d, sum_probes_ + column_probes_, choice_probes_);
    return sum_of(bound_inverse_forms(A_, P, part, sum_remainder).form);
  };
  if (!(expected(own_) <= expected(saved))) own_ = std::move(saved);
}

void ColumnCertificate::bound_sum(ApproximateInverse& P, const ColumnProbes& probes, const Matrix<double>& z,
                                  const Matrix<double>& y, double doubt) {
  const Matrix<double> part = probes_of(y, z, own_, 0, sum_probes_);
  const InverseForms forms = bound_inverse_forms(A_, P, part, sum_remainder);
  sum_ = sum_of(forms.form) * probe_factor(sum_probes_, doubt);
  slope_.reset();
  if (!problem_.W->b.empty()) return;
  // E (B S z)'(R S z) = s^2 sum of beta'rho, s being the same for all columns.
  const Matrix<double> Bz = probes.columns();
  const double squared = scale(0) * scale(0);
  double sum = 0;
  double squares = 0;
  for (std::int64_t p = 0; p < sum_probes_; ++p) {
    double dot = 0;
    for (std::int64_t i = 0; i < n_; ++i) dot += Bz(i, p) * part(i, p);
    sum += dot / squared;
    squares += dot / squared * (dot / squared);
  }
  const auto count = static_cast<double>(sum_probes_);
  const double mean = sum / count;
  slope_ = {.mean = mean, .error = std::sqrt(std::max(0.0, squares / count - mean * mean) / count)};
}

void ColumnCertificate::bound_columns(ApproximateInverse& P, const Matrix<double>& y,
                                      MatrixView<const float> columns, std::int64_t block) {
  const InverseForms forms =
      bound_inverse_forms(A_, P, probes_of(y, probes_->z(), own_, sum_probes_, column_probes_),
                          column_remainder / static_cast<double>(n_));
  // |Kz| >= |S R'e| less sqrt(K_ii) times the norm of the remainders.
  const double remainder = std::sqrt(sum_of(forms.remainder));
  const double least = 1 / std::sqrt(probe_factor(column_probes_, columns_doubt / static_cast<double>(n_)));
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
      ratio_[i] = 0;
      if (column_scale(i) == 0) continue;  // nobody has the item
      double squares = 0;
      for (std::int64_t p = 0; p < column_probes_; ++p) {
        const double own = own_.empty() ? 0.0 : own_[i] * forms.e(i, p);
        const double entry = column_scale(i) * (dots(static_cast<std::int64_t>(k), p) - own);
        squares += entry * entry;
      }
      // least x^2 - remainder x - |S R'e| <= 0 for x = sqrt(K_ii).
      const double root =
          (remainder + std::sqrt(remainder * remainder + 4 * least * std::sqrt(squares))) / (2 * least);
      const double ratio = ratio_of(root * root);
      ratio_[i] = std::isnan(ratio) ? unknown : ratio;
    }
  }
}

void ColumnCertificate::prove(ApproximateInverse& P, MatrixView<const float> columns, std::int64_t block) {
  const Matrix<double> y = probes_->residuals();
  if (zero_diagonal_) choose_diagonal(P, y);
  bound_sum(P, *probes_, probes_->z(), y, sum_doubt);
  bound_columns(P, y, columns, block);
  probes_.reset();
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
  slope_.reset();
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
  certificate.worst_column = n_ > 0 ? *std::max_element(ratio_.begin(), ratio_.end()) : 0.0;
  certificate.verified_columns = std::count(verified_.begin(), verified_.end(), 1);
  certificate.probability = certificate.verified_columns < n_ ? 1 - certificate_doubt : 1.0;
  return certificate;
}

double ColumnCertificate::stationary_objective() const { return sum_of(observed_) - sum_of(explained_); }

}  // namespace poise
