#include "poise/study/study.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "poise/base/error.hpp"
#include "poise/base/version.hpp"
#include "poise/study/finals.hpp"
#include "poise/study/statistics.hpp"
#include "poise/train/cost.hpp"

namespace poise {
namespace {

StudyData summary_of(const StudyInput& input) {
  const Dataset& dataset = input.data.dataset;
  StudyData data{.name = input.name,
                 .checksum = input.data.checksum,
                 .users = dataset.train.rows,
                 .items = dataset.train.cols,
                 .interactions = dataset.train.entries(),
                 .train_users = dataset.train.rows,
                 .train_interactions = dataset.train.entries(),
                 .validation_users = 0,
                 .test_users = 0,
                 .paper_data = input.paper_data};
  const auto add = [&](const HeldOut& part, std::int64_t& users) {
    users = part.targets.rows;
    if (dataset.split == SplitKind::users) data.users += users;
    data.interactions += part.fold_in.entries() + part.targets.entries();
  };
  add(*dataset.validation, data.validation_users);
  add(*dataset.test, data.test_users);
  return data;
}

void check(const StudyInput& input) {
  const auto check_part = [&](const std::optional<HeldOut>& part, const char* name) {
    if (part && part->targets.entries() > 0) return;
    fail(
        ErrorKind::input,
        "{} has no {} part with targets, and a study needs both; prepare it with --split users, or give both "
        "files",
        input.folder.string(), name);
  };
  check_part(input.data.dataset.validation, "validation");
  check_part(input.data.dataset.test, "test");
}

/// One search, and what its rows are.
struct Task {
  std::string name;
  StudyModel model;
  SearchSpace space;
};

std::int64_t directions_of(const StudyInput& input) {
  return std::min(input.data.dataset.train.rows, input.data.dataset.train.cols);
}

/// Low rank first, rank by rank; then full rank.
std::vector<Task> tasks_of(const StudyInput& input, const StudyOptions& options) {
  std::vector<Task> all;
  const auto put = [&](const StudiedKind& kind, std::optional<std::int64_t> rank) {
    Task task{.name = kind.name,
              .model = {.key = kind.key, .zero_diagonal = kind.zero_diagonal, .rank = rank},
              .space = space_of(kind, rank, options.base, options.method)};
    if (options.method == SearchMethod::grid) task.space.alpha = options.alphas;
    task.space.expand = options.expand;
    task.space.refine = options.refine;
    task.space.most_points = options.most_points;
    // Of full rank a key has at most these two: one solve serves both.
    task.space.both_diagonals =
        !kind.low_rank && std::ranges::count(options.kinds, kind.key, &StudiedKind::key) > 1;
    all.push_back(std::move(task));
  };
  for (const std::int64_t rank : options.ranks) {
    for (const StudiedKind& kind : options.kinds) {
      if (kind.low_rank && rank < directions_of(input)) put(kind, rank);
    }
  }
  for (const StudiedKind& kind : options.kinds) {
    if (!kind.low_rank) put(kind, {});
  }
  return all;
}

/// The study of one data set.
class DataStudy {
 public:
  DataStudy(const StudyInput& input, const StudyOptions& options, Journal& journal, Backend& backend,
            const Execution& execution, const StudyWatcher& watcher,
            std::optional<Points::Clock::time_point> until, StudyResults& results)
      : input_(input),
        options_(options),
        journal_(journal),
        execution_(execution),
        watcher_(watcher),
        results_(results),
        trainer_(input.data, input.folder, Keep::shared_parts, options.memory_limit, backend, execution),
        points_(trainer_, options.measure, &journal, execution, with_later_searches(), until),
        until_(until) {}

  /// Error{resources} when something would not fit, before any work.
  void check_memory() const {
    for (const Task& task : tasks_of(input_, options_))
      poise::check_memory(task.space, input_.data.dataset.train.view(), options_.memory_limit);
  }

  void run() {
    results_.data.push_back(summary_of(input_));
    for (const std::int64_t rank : options_.ranks) {
      if (rank >= directions_of(input_))
        say(fmt::format("{}: rank {} is left out, for there are only {} directions", input_.name, rank,
                        directions_of(input_)));
    }
    const std::vector<Task> all = tasks_of(input_, options_);
    if (watcher_.planned) {
      const Plan plan = planned(all);
      watcher_.planned(input_.name, all.size(), plan.points, plan.seconds);
    }
    for (const Task& task : all) {
      later_ = planned(std::span(all).subspan(&task - all.data() + 1));
      one(task);
    }
    results_.rows.push_back(test_part().popularity());
    per_user_.push_back(test_part().popularity_per_user());
    compare_with_best();
  }

 private:
  /// First points that are not in the journal, and the seconds that they may take.
  struct Plan {
    std::size_t points = 0;
    double seconds = 0;
  };
  [[nodiscard]] Plan planned(std::span<const Task> tasks) {
    Plan plan;
    for (const Task& task : tasks) {
      // By profiles a search that was begun is taken for done: what is left of it shows as it goes on.
      const std::vector<ModelParameters> first = first_points(task.space);
      const bool grid = task.space.method == SearchMethod::grid;
      if (!grid && journal_.find(points_.key(first.front())) != nullptr) continue;
      std::size_t points = 0;
      double seconds = 0;
      for (const ModelParameters& point : first) {
        if (grid && journal_.find(points_.key(point)) != nullptr) continue;
        ++points;
        // The other diagonal comes along.
        seconds += trainer_.expected_seconds(point) / (task.space.both_diagonals ? 2 : 1);
      }
      const std::size_t usual = grid ? points : usual_points(task.space);
      plan.points += usual;
      if (points > 0) plan.seconds += seconds * static_cast<double>(usual) / static_cast<double>(points);
    }
    return plan;
  }

  /// The watcher of the points, who hears of all that is left of the data set.
  PointWatcher with_later_searches() {
    if (!watcher_.points.trained) return {};
    return {.trained = [this](const PointResult& result, std::size_t left, double seconds) {
      watcher_.points.trained(result, left + later_.points, seconds + later_.seconds * points_.pace());
    }};
  }

  void say(const std::string& line) const {
    if (watcher_.say) watcher_.say(line);
  }

  /// Made when first asked for, so that a resumed study begins where it stopped.
  TestPart& test_part() {
    if (!test_part_) test_part_.emplace(input_.name, points_, execution_);
    return *test_part_;
  }

  void one(const Task& task) {
    const StudyModel& model = task.model;
    const SearchSpace& space = task.space;
    if (watcher_.searching)
      watcher_.searching(task.name + (model.rank ? fmt::format(", rank {}", *model.rank) : ""));
    const SearchResult result = search(points_, space);
    if (!result.complete && until_ && Points::Clock::now() >= *until_) throw TimeIsUp{result.missing};
    for (const ModelParameters& point : result.points) results_.points.push_back(study_point(model, point));
    const std::vector<StudyProfile> profiles = profiles_of(model, space, result);
    results_.profiles.insert(results_.profiles.end(), profiles.begin(), profiles.end());

    std::vector<std::pair<RowKind, ModelParameters>> chosen;
    const auto choose = [&](RowKind row, const std::optional<ModelParameters>& point) {
      if (point) chosen.emplace_back(row, to_convergence(*point, space));
    };
    choose(RowKind::unweighted, result.unweighted);
    choose(RowKind::weighted, result.weighted);
    const bool down_is_best = result.down_weighted && result.best &&
                              points_.key(*result.best) == points_.key(*result.down_weighted);
    if (space.method == SearchMethod::best || down_is_best)
      choose(RowKind::down_weighted, result.down_weighted);
    Finals finals = finals_of(model, chosen);
    mark_searches(finals, profiles);
    add(std::move(finals));
  }

  /// What the searches say of the rows, which are kept without it.
  static void mark_searches(Finals& finals, const std::vector<StudyProfile>& profiles) {
    const auto complete = [&](RowKind kind) {
      const auto found = std::ranges::find(profiles, kind, &StudyProfile::kind);
      return found != profiles.end() && found->complete;
    };
    for (StudyRow& row : finals.rows) {
      row.search_complete = complete(row.kind);
      const auto found = std::ranges::find(profiles, row.kind, &StudyProfile::kind);
      row.interior = found != profiles.end() && found->interior;
    }
    for (StudyPair& pair : finals.pairs) pair.complete = complete(pair.kind) && complete(RowKind::unweighted);
  }

  [[nodiscard]] ProfilePoint profile_point(const ModelParameters& point, const SearchResult& result) const {
    const StudyPoint measured = study_point({}, point);
    ProfilePoint on_curve{.alpha = measured.alpha,
                          .lambda = measured.lambda,
                          .dropout = measured.dropout,
                          .lambda_exponent = measured.lambda_exponent,
                          .validation = {},
                          .cut = measured.cut};
    if (const Estimate* const estimate = find(measured.validation, results_.choice))
      on_curve.validation = *estimate;
    if (result.unweighted) on_curve.paired_error = points_.paired_error(point, *result.unweighted);
    return on_curve;
  }

  /// The profile of each kind that has a model.
  [[nodiscard]] std::vector<StudyProfile> profiles_of(const StudyModel& model, const SearchSpace& space,
                                                      const SearchResult& result) const {
    std::vector<StudyProfile> profiles;
    const auto put = [&](RowKind kind, const std::optional<ModelParameters>& best) {
      if (!best) return;
      const StudyPoint chosen = study_point(model, *best);
      StudyProfile profile{.data = input_.name,
                           .model = model,
                           .kind = kind,
                           .complete = result.complete,
                           .alpha = chosen.alpha,
                           .lambda = chosen.lambda,
                           .dropout = chosen.dropout,
                           .lambda_exponent = chosen.lambda_exponent,
                           .curve = {}};
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
    put(RowKind::unweighted, result.unweighted);
    put(RowKind::weighted, result.weighted);
    put(RowKind::down_weighted, result.down_weighted);
    return profiles;
  }

  [[nodiscard]] StudyPoint study_point(const StudyModel& model, const ModelParameters& parameters) const {
    const PointResult& point = points_.at(parameters);
    return {.data = input_.name,
            .model = model,
            .lambda = parameters.lambda,
            .alpha = parameters.weighting.alpha,
            .dropout = parameters.family == Family::full_rank ? parameters.dropout : 0,
            .lambda_exponent = parameters.has_lambda_exponent() ? parameters.lambda_exponent : 0,
            .validation = point.figures(options_.measure.choice),
            .objective = point.objective,
            .certificate = point.certificate,
            .seconds = point.seconds,
            .cut = point.cut.has_value()};
  }

  Finals finals_of(const StudyModel& model, const std::vector<std::pair<RowKind, ModelParameters>>& chosen) {
    nlohmann::ordered_json name = {{"data", input_.data.checksum},
                                   {"compared on", to_string(options_.measure.choice)},
                                   {"rows", nlohmann::ordered_json::array()}};
    for (const auto& [kind, parameters] : chosen) name["rows"].push_back(option_texts(parameters));
    const std::string key = name.dump();
    if (journal_.find(key) == nullptr) {
      if (until_ && Points::Clock::now() >= *until_) {
        std::vector<ModelParameters> missing;
        missing.reserve(chosen.size());
        for (const auto& [kind, parameters] : chosen) missing.push_back(parameters);
        throw TimeIsUp{std::move(missing)};
      }
      journal_.append(key, to_json(test_part().measure(model, chosen)));
    }
    return finals_from_json(*journal_.find(key), input_.name, model);
  }

  void add(Finals finals) {
    const auto append = [](auto& to, auto& from) {
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    append(results_.rows, finals.rows);
    append(results_.pairs, finals.pairs);
    append(results_.against_popularity, finals.against_popularity);
    append(per_user_, finals.per_user);
  }

  /// Whether the row that validation likes best differs from the others; popularity is compared elsewhere.
  void compare_with_best() {
    const std::span<const StudyRow> rows = std::span(results_.rows).last(per_user_.size());
    const StudyRow* const best = best_on_validation(results_, input_.name);
    if (best == nullptr) return;
    const std::size_t first = results_.against_best.size();
    std::vector<double> p;
    for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
      if (&rows[k] == best) continue;
      results_.against_best.push_back(
          {.data = input_.name,
           .model = rows[k].model,
           .kind = rows[k].kind,
           .metric = results_.choice,
           .test = paired_difference(per_user_[k], per_user_[best - rows.data()])});
      p.push_back(results_.against_best.back().test.p);
    }
    const std::vector<double> corrected = holm(p);
    for (std::size_t k = 0; k < corrected.size(); ++k)
      results_.against_best[first + k].corrected_p = corrected[k];
  }

  const StudyInput& input_;
  const StudyOptions& options_;
  Journal& journal_;
  Execution execution_;
  const StudyWatcher& watcher_;
  StudyResults& results_;
  Trainer trainer_;
  Points points_;
  std::optional<Points::Clock::time_point> until_;
  std::optional<TestPart> test_part_;
  std::vector<std::vector<double>> per_user_;  ///< of each row of the data, on the study's metric
  Plan later_;                                 ///< of the searches after the present one
};

}  // namespace

Work study_work(std::span<const StudyInput> inputs, const StudyOptions& options, double enough) {
  Work work;
  for (const StudyInput& input : inputs) {
    for (const Task& task : tasks_of(input, options)) {
      const Work one = training_work(first_points(task.space), input.data.dataset.train.view(),
                                     options.memory_limit, enough - work.operations);
      work = {work.operations + one.operations, std::max(work.gpu_bytes, one.gpu_bytes)};
    }
  }
  return work;
}

StudyResults study(std::span<const StudyInput> inputs, const StudyOptions& options, Journal& journal,
                   Backend& backend, const Execution& execution, const StudyWatcher& watcher,
                   std::optional<Points::Clock::time_point> until) {
  for (const StudyInput& input : inputs) check(input);
  StudyResults results;
  for (const Metric& metric : options.measure.evaluation().metrics)
    results.metrics.push_back(to_string(metric));
  results.choice = to_string(options.measure.choice);
  results.popularity_cutoff = popularity_cutoff;
  results.version = std::string(version());
  const auto study_of = [&](const StudyInput& input) {
    return DataStudy(input, options, journal, backend, execution, watcher, until, results);
  };
  for (const StudyInput& input : inputs) study_of(input).check_memory();
  for (const StudyInput& input : inputs) study_of(input).run();

  std::vector<double> p;
  for (const RowComparison& row : results.against_popularity) p.push_back(row.test.p);
  const std::vector<double> corrected = holm(p);
  for (std::size_t k = 0; k < corrected.size(); ++k) results.against_popularity[k].corrected_p = corrected[k];
  return results;
}

}  // namespace poise
