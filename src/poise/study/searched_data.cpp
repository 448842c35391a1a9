#include "poise/study/searched_data.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "poise/base/version.hpp"
#include "poise/data/summary.hpp"
#include "poise/study/statistics.hpp"
#include "poise/train/parameter_table.hpp"

namespace poise {
namespace {

/// `searched` are the data of the search.
StudyData summary_of(const LoadedDataset& searched, const AllRows& all_rows, const std::string& name,
                     const std::string& paper_data) {
  const LoadedDataset& loaded = all_rows.data ? *all_rows.data : searched;
  const Dataset& dataset = loaded.dataset;
  const DatasetSummary summary = summarize(dataset);
  const DatasetSummary chosen_on = summarize(searched.dataset);
  StudyData data{.name = name,
                 .checksum = loaded.checksum,
                 .users = summary.users,
                 .items = summary.items,
                 .interactions = summary.interactions,
                 .train_users = summary.train.users,
                 .train_interactions = summary.train.interactions,
                 .validation_users = chosen_on.validation ? chosen_on.validation->users : 0,
                 .test_users = summary.test ? summary.test->users : 0,
                 .paper_data = paper_data};
  if (all_rows.data) data.validation_from_training = searched.dataset.validation->targets.entries();
  const auto ratio = [](std::int64_t test, std::int64_t train) {
    return train > 0 ? static_cast<double>(test) / static_cast<double>(train) : 0;
  };
  if (dataset.test)
    data.test_to_train = dataset.split == SplitKind::users
                             ? ratio(data.test_users, data.train_users)
                             : ratio(dataset.test->targets.entries(), data.train_interactions);
  return data;
}

/// Sets the state of the search in its rows; the journal's entries do not have it.
void mark_searches(Finals& finals, const std::vector<StudyProfile>& profiles) {
  const auto complete = [&](RowKind kind) {
    const auto found = std::ranges::find(profiles, kind, &StudyProfile::kind);
    return found != profiles.end() && found->complete;
  };
  for (StudyRow& row : finals.rows) {
    row.search_complete = complete(row.kind);
    const auto found = std::ranges::find(profiles, row.kind, &StudyProfile::kind);
    row.interior = found != profiles.end() && found->interior;
  }
  for (auto* const pairs : {&finals.pairs, &finals.beyond_pairs}) {
    for (StudyPair& pair : *pairs) pair.complete = complete(pair.kind) && complete(RowKind::unweighted);
  }
}

}  // namespace

std::string answer_to_chosen(const std::string& message, TestPart& part) {
  const auto json = nlohmann::json::parse(message);
  const ModelParameters parameters =
      parameters_of(json.at("point").get<std::map<std::string, std::string>>());
  return message_of(part.row_of({}, parse_row_kind(json.at("kind").get<std::string>()), parameters));
}

StudyResults no_results(const MeasureOptions& measure) {
  StudyResults results;
  for (const Metric& metric : measure.evaluation().metrics) results.metrics.push_back(to_string(metric));
  results.choice = to_string(measure.choice);
  results.popularity_cutoff = popularity_cutoff;
  results.version = std::string(version());
  return results;
}

SearchedData::SearchedData(std::string name, std::string paper_data, Points& points, AllRows all_rows,
                           Journal* journal, const Execution& execution,
                           std::optional<Points::Clock::time_point> until, StudyResults& results)
    : name_(std::move(name)),
      paper_data_(std::move(paper_data)),
      points_(points),
      all_rows_(std::move(all_rows)),
      journal_(journal),
      execution_(execution),
      until_(until),
      results_(results) {}

bool SearchedData::time_is_up() const { return until_ && Points::Clock::now() >= *until_; }

/// Made at the first call, so that a resumed study begins quickly.
TestPart& SearchedData::test_part() {
  if (!test_part_) test_part_.emplace(name_, points_, all_rows_, execution_);
  return *test_part_;
}

void SearchedData::add(const StudyModel& model, const SearchSpace& space, const SearchResult& result) {
  if (!result.complete) {
    const bool begun = !result.points.empty();
    leave(model, begun ? UnfinishedSearch::State::searching : UnfinishedSearch::State::not_begun,
          result.missing);
    if (!begun) return;
  }
  for (const ModelParameters& point : result.points) results_.points.push_back(study_point(model, point));
  const std::vector<StudyProfile> profiles = profiles_of(model, space, result);
  results_.profiles.insert(results_.profiles.end(), profiles.begin(), profiles.end());
  const Chosen chosen = rows_of(space, result);
  std::optional<Finals> finals = finals_of(model, chosen, space);
  if (!finals) {
    finals = searched_rows(model, chosen);
    if (result.complete) {
      std::vector<ModelParameters> missing;
      for (const auto& [kind, point] : chosen) missing.push_back(to_convergence(point, space));
      leave(model, UnfinishedSearch::State::not_trained, missing);
    }
  }
  mark_searches(*finals, profiles);
  append(std::move(*finals));
}

void SearchedData::leave(const StudyModel& model, UnfinishedSearch::State state,
                         const std::vector<ModelParameters>& missing) {
  results_.complete = false;
  // For searches that were not begun, the first points of the first one are enough.
  if (state != UnfinishedSearch::State::not_begun || results_.unfinished.empty())
    results_.missing.insert(results_.missing.end(), missing.begin(), missing.end());
  results_.unfinished.push_back({.data = name_, .model = model, .state = state});
}

SearchedData::Chosen SearchedData::rows_of(const SearchSpace& space, const SearchResult& result) const {
  Chosen chosen;
  const auto choose = [&](RowKind kind) {
    if (const auto& point = result.*best_of_kind(kind)) chosen.emplace_back(kind, *point);
  };
  choose(RowKind::unweighted);
  choose(RowKind::weighted);
  const bool down_is_best =
      result.down_weighted && result.best && points_.key(*result.best) == points_.key(*result.down_weighted);
  if (space.method == SearchMethod::best || down_is_best) choose(RowKind::down_weighted);
  return chosen;
}

ProfilePoint SearchedData::profile_point(const ModelParameters& point, const SearchResult& result) const {
  const StudyPoint measured = study_point({}, point);
  ProfilePoint on_curve{static_cast<const SearchedValues&>(measured)};
  on_curve.cut = measured.cut;
  if (const Estimate* const estimate = find(measured.validation, results_.choice))
    on_curve.validation = *estimate;
  if (const auto& origin = result.unweighted)
    on_curve.paired_error =
        std::hypot(points_.paired_error(point, *origin), measured.cut ? points_.at(point).cut->error : 0);
  return on_curve;
}

/// The profile of each kind that has a model.
std::vector<StudyProfile> SearchedData::profiles_of(const StudyModel& model, const SearchSpace& space,
                                                    const SearchResult& result) const {
  std::vector<StudyProfile> profiles;
  const auto put = [&](RowKind kind) {
    const std::optional<ModelParameters>& best = result.*best_of_kind(kind);
    if (!best) return;
    StudyProfile profile{{name_, model, kind}, searched_values(*best)};
    profile.complete = result.complete;
    std::vector<ModelParameters> curve;
    const auto found = std::ranges::find(result.profiles, kind, &SearchProfile::kind);
    if (space.method == SearchMethod::best && found != result.profiles.end()) {
      profile.complete = found->complete;
      profile.interior = found->interior;
      curve = found->curve;
    } else {
      curve = best_of_each_alpha(points_, result.points, kind);
      profile.interior = lies_inside(result.points, *best);
    }
    for (const ModelParameters& point : curve) profile.curve.push_back(profile_point(point, result));
    profiles.push_back(std::move(profile));
  };
  put(RowKind::unweighted);
  put(RowKind::weighted);
  put(RowKind::down_weighted);
  return profiles;
}

StudyPoint SearchedData::study_point(const StudyModel& model, const ModelParameters& parameters) const {
  const PointResult& point = points_.at(parameters);
  return {{name_, model, kind_of(parameters)},
          searched_values(parameters),
          point.figures(points_.options().choice),
          point.objective,
          point.certificate,
          point.seconds,
          point.cut.has_value()};
}

std::pair<SearchedData::Chosen, std::string> SearchedData::converged(const Chosen& chosen,
                                                                     const SearchSpace& space) const {
  Chosen points = chosen;
  nlohmann::ordered_json name = {{"data", points_.trainer().data().checksum},
                                 {"compared on", to_string(points_.options().choice)},
                                 {"rows", nlohmann::ordered_json::array()}};
  for (auto& [kind, parameters] : points) {
    parameters = to_convergence(parameters, space);
    name["rows"].push_back(option_texts(parameters));
  }
  return {std::move(points), name.dump()};
}

std::optional<Finals> SearchedData::finals_of(const StudyModel& model, const Chosen& chosen,
                                              const SearchSpace& space) {
  const auto [points, key] = converged(chosen, space);
  const bool known = journal_ != nullptr && journal_->find(key) != nullptr;
  if (!known && time_is_up()) return {};
  if (journal_ == nullptr) return test_part().measure(model, points);
  if (!known) journal_->append(key, to_json(test_part().measure(model, points)));
  return finals_from_json(*journal_->find(key), name_, model);
}

void SearchedData::measure_together(PointTeam& team, const std::vector<Searched>& searches) {
  struct Wanted {
    StudyModel model;
    std::string key;
    std::vector<MeasuredRow> rows;
    std::size_t left = 0;
  };
  struct Task {
    std::size_t wanted;
    std::size_t row;
    std::string message;
    double seconds;
  };
  if (journal_ == nullptr || time_is_up()) return;
  std::vector<Wanted> all;
  std::vector<Task> tasks;
  for (const auto& [model, space, result] : searches) {
    const auto [points, key] = converged(rows_of(space, result), space);
    if (points.empty() || journal_->find(key) != nullptr) continue;
    for (std::size_t row = 0; row < points.size(); ++row) {
      const auto& [kind, parameters] = points[row];
      const nlohmann::json message = {{"kind", to_string(kind)}, {"point", option_texts(parameters)}};
      tasks.push_back({all.size(), row, message.dump(), points_.trainer().expected_seconds(parameters)});
    }
    all.push_back({model, key, std::vector<MeasuredRow>(points.size()), points.size()});
  }
  // The longest first: the others fill the gaps.
  std::ranges::stable_sort(tasks, std::greater<>(), &Task::seconds);
  std::vector<std::string> messages;
  messages.reserve(tasks.size());
  for (const Task& task : tasks) messages.push_back(task.message);
  if (messages.empty()) return;
  TestPart& part = test_part();
  team.each(
      messages, until_, [&part](const std::string& message) { return answer_to_chosen(message, part); },
      [&](std::size_t task, const std::string& answer) {
        Wanted& wanted = all[tasks[task].wanted];
        wanted.rows[tasks[task].row] = measured_row_in(answer, name_, wanted.model);
        if (--wanted.left == 0) journal_->append(wanted.key, to_json(part.compare(std::move(wanted.rows))));
      });
}

Finals SearchedData::searched_rows(const StudyModel& model, const Chosen& chosen) const {
  Finals finals;
  for (const auto& [kind, parameters] : chosen) {
    const StudyPoint point = study_point(model, parameters);
    StudyRow row{{name_, model, kind}, static_cast<const SearchedValues&>(point)};
    row.validation = point.validation;
    row.objective = point.objective;
    row.observed_weight = std::numeric_limits<double>::quiet_NaN();
    row.certificate = point.certificate;
    row.seconds = point.seconds;
    row.final = false;
    finals.rows.push_back(std::move(row));
    finals.per_user.emplace_back();
  }
  return finals;
}

void SearchedData::append(Finals finals) {
  const auto move_to = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move_to(results_.rows, finals.rows);
  move_to(results_.pairs, finals.pairs);
  move_to(results_.beyond_pairs, finals.beyond_pairs);
  move_to(results_.against_popularity, finals.against_popularity);
  move_to(per_user_, finals.per_user);
}

void SearchedData::finish() {
  const bool begun = !per_user_.empty();
  if (!begun && !results_.complete && !results_.data.empty()) return;
  results_.data.push_back(summary_of(points_.trainer().data(), all_rows_, name_, paper_data_));
  results_.rows.push_back(test_part().popularity());
  per_user_.push_back(test_part().popularity_per_user());
  compare_with_best();
}

/// Compares the row with the best validation figure with the others; popularity is compared elsewhere.
void SearchedData::compare_with_best() {
  const std::span<const StudyRow> rows = std::span(results_.rows).last(per_user_.size());
  const StudyRow* const best = best_on_validation(results_, name_);
  if (best == nullptr || best->test.empty()) return;
  const std::size_t first = results_.against_best.size();
  std::vector<double> p;
  for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
    if (&rows[k] == best || rows[k].test.empty()) continue;
    results_.against_best.push_back(
        {{rows[k], results_.choice, paired_difference(per_user_[k], per_user_[best - rows.data()])}});
    p.push_back(results_.against_best.back().test.p);
  }
  const std::vector<double> corrected = holm(p);
  for (std::size_t k = 0; k < corrected.size(); ++k)
    results_.against_best[first + k].corrected_p = corrected[k];
}

void correct_against_popularity(StudyResults& results) {
  std::vector<double> p;
  for (const RowComparison& row : results.against_popularity) p.push_back(row.test.p);
  const std::vector<double> corrected = holm(p);
  for (std::size_t k = 0; k < corrected.size(); ++k) results.against_popularity[k].corrected_p = corrected[k];
}

}  // namespace poise
