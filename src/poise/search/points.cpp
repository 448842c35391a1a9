#include "poise/search/points.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/search/point_json.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

/// Raised whenever a change gives equal points other numbers, so that no journal mixes the two.
constexpr int method = 10;

/// Orders points so that those that share an inverse, or factorizations, are adjacent; of these the most
/// neighbours last.
auto sharing_order(const ModelParameters& point) {
  return std::tuple(point.rank, point.lambda_exponent, static_cast<int>(point.weighting.scheme),
                    point.dropout, point.feature_weight, point.lambda, point.weighting.alpha,
                    point.weighting.alpha_negative, point.weighting.gamma, point.zero_diagonal,
                    point.neighbours);
}

ModelParameters with_diagonal(ModelParameters parameters, bool zero) {
  parameters.zero_diagonal = zero;
  return parameters;
}

ModelParameters with_neighbours(ModelParameters parameters, std::int64_t neighbours) {
  parameters.neighbours = neighbours;
  return parameters;
}

std::optional<Race> race_of(const ModelParameters& point, const Racing& racing) {
  return racing ? racing(point) : std::nullopt;
}

}  // namespace

EvaluateOptions MeasureOptions::evaluation() const {
  EvaluateOptions evaluation{.metrics = metrics, .denominator = denominator, .cold_items = cold_items};
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
  // Another device rounds differently.
  if (backend.name() != to_string(BackendKind::cpu)) header["device"] = backend.name();
  return header;
}

double PointResult::score(const Metric& choice) const {
  if (!failure.empty() || cut) return -std::numeric_limits<double>::infinity();
  const std::string name = to_string(choice);
  for (const auto& [metric, estimate] : validation) {
    if (metric == name) return estimate.mean;
  }
  fail(ErrorKind::input, "the journal has no {} for a point", name);
}

Estimates PointResult::figures(const Metric& choice) const {
  if (!cut) return validation;
  return {{to_string(choice), {.mean = cut->mean, .standard_error = {}}}};
}

Points::Points(Trainer& trainer, MeasureOptions options, Journal* journal, Execution execution,
               PointWatcher watcher, std::optional<Clock::time_point> until)
    : trainer_(trainer),
      options_(std::move(options)),
      journal_(journal),
      execution_(execution),
      watcher_(std::move(watcher)),
      until_(until),
      users_(trainer.data().dataset.validation
                 ? scored_users(trainer.data().dataset.validation->targets.view())
                 : ScoredUsers{}) {
  options_.cold_items = trainer.data().dataset.split == SplitKind::cold_items;
}

std::string Points::key(const ModelParameters& parameters) const {
  return Journal::Json({{"data", trainer_.data().checksum}, {"point", option_texts(parameters)}}).dump();
}

std::string Points::cut_key(const ModelParameters& parameters, std::int64_t users) const {
  return Journal::Json(
             {{"data", trainer_.data().checksum}, {"point", option_texts(parameters)}, {"users", users}})
      .dump();
}

/// Reads the complete point or, if it was cut, its entry with the most users.
void Points::read_journal(const ModelParameters& parameters) {
  if (journal_ == nullptr) return;
  const Journal::Json* entry = journal_->find(key(parameters));
  for (auto end = users_.sampled.ends.rbegin(); entry == nullptr && end != users_.sampled.ends.rend(); ++end)
    entry = journal_->find(cut_key(parameters, static_cast<std::int64_t>(*end)));
  if (entry != nullptr) results_[key(parameters)] = point_from_json(*entry, parameters);
}

bool Points::known(const ModelParameters& parameters, const std::optional<Race>& race) {
  const std::string name = key(parameters);
  if (!results_.contains(name)) read_journal(parameters);
  const auto found = results_.find(name);
  if (found == results_.end()) return false;
  if (!found->second.cut) return true;
  const std::optional<Standing> standing = lost(parameters, race);
  if (standing) found->second.cut = standing;
  return standing.has_value();
}

void Points::add(const ModelParameters& parameters, Trained trained, double seconds,
                 const std::optional<Race>& race) {
  score(std::make_unique<Scoring>(parameters, std::move(trained), seconds, trainer_, options_.evaluation(),
                                  users_, execution_),
        race);
}

void Points::score(std::unique_ptr<Scoring> scoring, const std::optional<Race>& race) {
  PointResult result = scoring->run(race, to_string(options_.choice));
  if (result.cut) held_.put(key(result.parameters), std::move(scoring), room_beside(result.parameters));
  keep(std::move(result));
}

/// The memory that the limit leaves beside the training of a point.
double Points::room_beside(const ModelParameters& parameters) {
  return static_cast<double>(trainer_.memory_limit()) - trainer_.expected_bytes(parameters);
}

void Points::keep(PointResult result) {
  const std::string name = key(result.parameters);
  if (journal_ != nullptr) {
    const std::string entry = result.cut ? cut_key(result.parameters, result.cut->users) : name;
    // A point that was trained again for a longer race may be cut at the same place as before.
    if (journal_->find(entry) == nullptr) journal_->append(entry, journal_entry(result));
    const std::optional<Standing> cut = result.cut;
    result = point_from_json(*journal_->find(entry), result.parameters);
    result.cut = cut;
  }
  results_[name] = std::move(result);
}

void Points::add_failure(const ModelParameters& parameters, double seconds, const Error& error) {
  // One end of a grid may be too ill-conditioned; the search continues without it.
  if (!known(parameters, {}))
    keep({.parameters = parameters, .seconds = seconds, .failure = with_names(error.sentence(), flag_name)});
}

std::vector<ModelParameters> Points::with_siblings(const ModelParameters& point,
                                                   std::span<const ModelParameters> points,
                                                   const Racing& racing) {
  std::vector<ModelParameters> siblings = {point};
  for (const ModelParameters& other : points) {
    if (other.neighbours <= siblings.back().neighbours ||
        key(with_neighbours(other, point.neighbours)) != key(point))
      break;
    if (!held_.has(key(other)) && !known(other, race_of(other, racing))) siblings.push_back(other);
  }
  return siblings;
}

void Points::train_neighbours(std::span<const ModelParameters> siblings, const Racing& racing) {
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  auto room = static_cast<double>(trainer_.memory_limit());
  std::vector<std::int64_t> neighbours;
  for (const ModelParameters& each : siblings) {
    room -= trainer_.expected_bytes(each);
    neighbours.push_back(each.neighbours);
  }
  held_.shrink(room);
  try {
    std::vector<Trained> models = trainer_.train_to_score(siblings.back(), neighbours);
    const double each = seconds() / static_cast<double>(siblings.size());
    for (std::size_t k = 0; k < siblings.size(); ++k)
      add(siblings[k], std::move(models[k]), each, race_of(siblings[k], racing));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::numerical) throw;
    // Those of fewer neighbours may have a model.
    if (siblings.size() == 1) return add_failure(siblings.front(), seconds(), error);
    for (std::size_t k = 0; k < siblings.size(); ++k) train_neighbours(siblings.subspan(k, 1), racing);
  }
}

void Points::train(const ModelParameters& point, bool both_diagonals, const Racing& racing) {
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  if (std::unique_ptr<Scoring> held = held_.take(key(point)))
    return score(std::move(held), race_of(point, racing));
  held_.shrink(room_beside(point));
  const bool both = both_diagonals && point.family == Family::full_rank;
  try {
    if (!both) {
      Trained trained = trainer_.train(point);
      return add(point, std::move(trained), seconds(), race_of(point, racing));
    }
    auto [unconstrained, zero_diagonal] = trainer_.train_both_diagonals(point);
    const double half = seconds() / 2;
    for (const bool zero : {false, true}) {
      const ModelParameters one = with_diagonal(point, zero);
      const std::optional<Race> race = race_of(one, racing);
      if (!known(one, race)) add(one, std::move(zero ? zero_diagonal : unconstrained), half, race);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::numerical) throw;
    for (const bool zero : {false, true})
      add_failure(both ? with_diagonal(point, zero) : point, seconds(), error);
  }
}

std::vector<ModelParameters> Points::measure(std::vector<ModelParameters> points, Diagonals diagonals,
                                             const Racing& racing) {
  const auto is_known = [&](const ModelParameters& point) { return known(point, race_of(point, racing)); };
  std::erase_if(points, is_known);
  std::ranges::stable_sort(points, {}, sharing_order);
  if (team_ != nullptr) return measure_together(points, diagonals, racing);
  double left = expected_seconds(points);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const ModelParameters& point = points[k];
    left -= trainer_.expected_seconds(point);
    if (is_known(point)) continue;
    if (until_ && Clock::now() >= *until_)
      return {points.begin() + static_cast<std::ptrdiff_t>(k), points.end()};
    const bool neighbours = point.neighbours > 0 && point.family == Family::full_rank;
    const bool shared = neighbours && !held_.has(key(point));
    const std::vector<ModelParameters> siblings =
        shared ? with_siblings(point, std::span(points).subspan(k + 1), racing) : std::vector{point};
    const bool twins = !neighbours && k + 1 < points.size() &&
                       key(with_diagonal(point, true)) == key(points[k + 1]) && !is_known(points[k + 1]);
    std::vector<ModelParameters> fresh;
    std::ranges::copy_if(siblings, std::back_inserter(fresh),
                         [&](const ModelParameters& each) { return find(each) == nullptr; });
    const auto begin = Clock::now();
    if (shared)
      train_neighbours(siblings, racing);
    else
      train(point, twins || (diagonals == Diagonals::both && !neighbours), racing);
    if (!fresh.empty()) expected_ += trainer_.expected_seconds(siblings.back());
    taken_ += std::chrono::duration<double>(Clock::now() - begin).count();
    for (const ModelParameters& each : fresh) {
      if (watcher_.trained) watcher_.trained(at(each), points.size() - k - 1, std::max(0.0, left) * pace());
    }
  }
  return {};
}

std::optional<Standing> Points::lost(const ModelParameters& parameters,
                                     const std::optional<Race>& race) const {
  const PointResult& point = at(parameters);
  if (!race || !point.failure.empty()) return {};
  return poise::lost(point.sample.of(to_string(options_.choice)), users_.sampled.ends, *race);
}

std::optional<Rival> Points::rival(const ModelParameters& parameters) const {
  const PointResult* const point = find(parameters);
  if (point == nullptr || point->cut || !point->failure.empty()) return {};
  return Rival{.mean = point->score(options_.choice), .values = point->sample.of(to_string(options_.choice))};
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

double Points::paired_error(const ModelParameters& a, const ModelParameters& b, std::size_t most) const {
  return poise::paired_error(at(a).sample, at(b).sample, to_string(options_.choice), most);
}

double Points::expected_seconds(std::span<const ModelParameters> points) {
  double seconds = 0;
  for (const ModelParameters& point : points) seconds += trainer_.expected_seconds(point);
  return seconds;
}

}  // namespace poise
