#include "poise/search/points.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/search/point_json.hpp"

namespace poise {
namespace {

/// Raised whenever a change makes equal points give other numbers, so that no journal mixes the two.
constexpr int method = 7;

/// Points that share an inverse stand together.
auto sharing_order(const ModelParameters& point) {
  return std::tuple(point.rank, point.lambda_exponent, static_cast<int>(point.weighting.scheme),
                    point.dropout, point.lambda, point.weighting.alpha, point.zero_diagonal);
}

ModelParameters with_diagonal(ModelParameters parameters, bool zero) {
  parameters.zero_diagonal = zero;
  return parameters;
}

}  // namespace

EvaluateOptions MeasureOptions::evaluation() const {
  EvaluateOptions evaluation{.metrics = metrics, .denominator = denominator};
  if (std::ranges::find(metrics, choice) == metrics.end()) evaluation.metrics.push_back(choice);
  return evaluation;
}

Journal::Json journal_header(const MeasureOptions& options, std::uint64_t memory_limit,
                             const Backend& backend) {
  Journal::Json metrics = Journal::Json::array();
  for (const Metric& metric : options.evaluation().metrics) metrics.push_back(to_string(metric));
  Journal::Json header = {
      {"journal", "poise search"},
      {"method", method},
      {"metrics", metrics},
      {"recall-denominator", options.denominator == RecallDenominator::min ? "min" : "targets"},
      {"memory-limit", memory_limit}};
  // Another device rounds otherwise.
  if (backend.name() != to_string(BackendKind::cpu)) header["device"] = backend.name();
  return header;
}

double PointResult::score(const Metric& choice) const {
  if (!failure.empty()) return -std::numeric_limits<double>::infinity();
  const std::string name = to_string(choice);
  for (const auto& [metric, estimate] : validation) {
    if (metric == name) return estimate.mean;
  }
  fail(ErrorKind::input, "the journal has no {} for a point", name);
}

Points::Points(Trainer& trainer, MeasureOptions options, Journal* journal, Execution execution,
               PointWatcher watcher, std::optional<Clock::time_point> until)
    : trainer_(trainer),
      options_(std::move(options)),
      journal_(journal),
      execution_(execution),
      watcher_(std::move(watcher)),
      until_(until) {}

std::string Points::key(const ModelParameters& parameters) const {
  return Journal::Json({{"data", trainer_.data().checksum}, {"point", option_texts(parameters)}}).dump();
}

bool Points::known(const ModelParameters& parameters) {
  const std::string name = key(parameters);
  if (results_.contains(name)) return true;
  const Journal::Json* const entry = journal_ == nullptr ? nullptr : journal_->find(name);
  if (entry == nullptr) return false;
  results_[name] = point_from_json(*entry, parameters);
  return true;
}

void Points::add(const ModelParameters& parameters, const Trained& trained, double seconds) {
  const auto begin = Clock::now();
  const Dataset& dataset = trainer_.data().dataset;
  const HeldOut& part = *dataset.validation;
  const EvaluationResult evaluation =
      evaluate(scorer_of(trained.model), dataset.histories(part), part.targets.view(),
               column_counts(dataset.train.view()), options_.evaluation(), execution_, &trainer_.backend());
  keep({.parameters = parameters,
        .validation = estimates_of(evaluation),
        .objective = trained.objective,
        .certificate = trained.certificate,
        .iterations = trained.iterations,
        .rounds = trained.rounds,
        .converged = trained.converged,
        .seconds = seconds + std::chrono::duration<double>(Clock::now() - begin).count(),
        .sample = sample_of(evaluation)});
}

void Points::keep(PointResult result) {
  const std::string name = key(result.parameters);
  if (journal_ != nullptr) {
    journal_->append(name, journal_entry(result));
    result = point_from_json(*journal_->find(name), result.parameters);
  }
  results_[name] = std::move(result);
}

void Points::train(const ModelParameters& point, bool both_diagonals) {
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const bool both = both_diagonals && point.family == Family::full_rank;
  try {
    if (!both) {
      const Trained trained = trainer_.train(point);
      return add(point, trained, seconds());
    }
    const auto [unconstrained, zero_diagonal] = trainer_.train_both_diagonals(point);
    const double half = seconds() / 2;
    for (const bool zero : {false, true}) {
      const ModelParameters one = with_diagonal(point, zero);
      if (!known(one)) add(one, zero ? zero_diagonal : unconstrained, half);
    }
  } catch (const Error& error) {
    // One end of a grid may be out of reach; the search goes on without it.
    if (error.kind() != ErrorKind::numerical) throw;
    for (const bool zero : {false, true}) {
      const ModelParameters one = both ? with_diagonal(point, zero) : point;
      if (!known(one)) keep({.parameters = one, .seconds = seconds(), .failure = error.what()});
    }
  }
}

void Points::measure(std::vector<ModelParameters> points, bool both_diagonals) {
  std::erase_if(points, [&](const ModelParameters& point) { return known(point); });
  std::ranges::stable_sort(points, {}, sharing_order);
  double left = expected_seconds(points);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const ModelParameters& point = points[k];
    const double expected = trainer_.expected_seconds(point);
    left -= expected;
    if (known(point)) continue;
    if (until_ && Clock::now() >= *until_)
      throw TimeIsUp{{points.begin() + static_cast<std::ptrdiff_t>(k), points.end()}};
    const auto begin = Clock::now();
    train(point, both_diagonals);
    expected_ += expected;
    taken_ += std::chrono::duration<double>(Clock::now() - begin).count();
    if (watcher_.trained) watcher_.trained(at(point), points.size() - k - 1, std::max(0.0, left) * pace());
  }
}

const PointResult* Points::find(const ModelParameters& parameters) const {
  const auto found = results_.find(key(parameters));
  return found == results_.end() ? nullptr : &found->second;
}

const PointResult& Points::at(const ModelParameters& parameters) const {
  return results_.at(key(parameters));
}

std::vector<ModelParameters> Points::measured() const {
  std::vector<ModelParameters> points;
  points.reserve(results_.size());
  for (const auto& [name, result] : results_) points.push_back(result.parameters);
  return points;
}

double Points::paired_error(const ModelParameters& a, const ModelParameters& b) const {
  return poise::paired_error(at(a).sample, at(b).sample, to_string(options_.choice));
}

double Points::expected_seconds(std::span<const ModelParameters> points) {
  double seconds = 0;
  for (const ModelParameters& point : points) seconds += trainer_.expected_seconds(point);
  return seconds;
}

}  // namespace poise
