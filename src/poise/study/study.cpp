#include "poise/study/study.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "poise/base/error.hpp"
#include "poise/search/point_team.hpp"
#include "poise/search/space_axes.hpp"
#include "poise/study/searched_data.hpp"
#include "poise/train/cost.hpp"

namespace poise {
namespace {

void check(const StudyInput& input) {
  const auto check_part = [&](const std::optional<HeldOut>& part, const char* name) {
    if (part && part->targets.entries() > 0) return;
    fail(ErrorKind::input,
         "{} has no {} part with targets, and a study needs both; prepare it with {} users, or give both "
         "files",
         input.folder.empty() ? input.name : input.folder.string(), name, "split"_p);
  };
  check_part(input.data.dataset.validation, "validation");
  check_part(input.prepared().dataset.test, "test");
}

/// One search, and the model of its rows.
struct Task {
  std::string name;
  StudyModel model;
  SearchSpace space;
};

SearchSpace task_space(const ModelKind& kind, std::optional<std::int64_t> rank, const ModelParameters& base,
                       const StudyOptions& options) {
  SearchSpace space = space_of(kind, rank, base, options.method);
  if (!options.alpha_negative.empty()) set_axis(space, "alpha-negative", options.alpha_negative);
  return space;
}

std::int64_t directions_of(const StudyInput& input) {
  return std::min(input.data.dataset.train.rows, input.data.dataset.train.cols);
}

void check_task_memory(const Task& task, const StudyInput& input, const StudyOptions& options) {
  const Dataset& data = input.prepared().dataset;
  check_memory(task.space, data.training_rows(), data.features.rows.view(), options.memory_limit);
}

bool fits(const Task& task, const StudyInput& input, const StudyOptions& options) {
  try {
    check_task_memory(task, input, options);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::resources) throw;
    return false;
  }
}

/// Low rank first, rank by rank; then full rank, each kind dense and with each number of neighbours. `say`:
/// one line about what is left out.
std::vector<Task> tasks_of(const StudyInput& input, const StudyOptions& options,
                           const std::function<void(const std::string&)>& say = {}) {
  std::vector<Task> all;
  const auto task_of = [&](const ModelKind& kind, std::optional<std::int64_t> rank, std::int64_t neighbours) {
    ModelParameters base = options.base;
    base.neighbours = neighbours;
    Task task{.name = kind.name,
              .model = {.key = kind.key,
                        .zero_diagonal = kind.zero_diagonal,
                        .rank = rank,
                        .neighbours = neighbours},
              .space = task_space(kind, rank, base, options)};
    if (neighbours > 0) task.name += fmt::format(", {} neighbours", neighbours);
    if (options.method == SearchMethod::grid) task.space.alpha = options.alphas;
    task.space.expand = options.expand;
    task.space.refine = options.refine;
    task.space.most_points = options.most_points;
    // A key of full rank has at most these two, and one solve gives both dense ones.
    task.space.both_diagonals = !kind.low_rank() && neighbours == 0 &&
                                std::ranges::count(options.kinds, kind.key, &ModelKind::key) > 1;
    return task;
  };
  for (const std::int64_t rank : options.ranks) {
    for (const ModelKind& kind : options.kinds) {
      if (kind.low_rank() && rank < directions_of(input)) all.push_back(task_of(kind, rank, 0));
    }
  }
  for (const ModelKind& kind : options.kinds) {
    if (kind.low_rank()) continue;
    Task dense = task_of(kind, {}, 0);
    if (options.neighbours.empty() || fits(dense, input, options))
      all.push_back(std::move(dense));
    else if (say)
      say(fmt::format("{}: {} with all neighbours is left out, because it does not fit in the memory limit",
                      input.name, kind.name));
    for (const std::int64_t neighbours : options.neighbours) all.push_back(task_of(kind, {}, neighbours));
  }
  return all;
}

/// A task and those that share its solves: by profiles the other diagonal of full rank, or other numbers of
/// neighbours.
std::vector<const Task*> searched_with(const Task& task, std::span<const Task> all) {
  std::vector<const Task*> together = {&task};
  if (task.space.method != SearchMethod::best) return together;
  const auto shares = [&](const Task& each) {
    if (each.model.key != task.model.key) return false;
    if (task.model.neighbours == 0) return task.space.both_diagonals && each.space.both_diagonals;
    return each.model.neighbours > 0 && each.model.zero_diagonal == task.model.zero_diagonal;
  };
  for (const Task& each : all) {
    if (&each > &task && shares(each)) together.push_back(&each);
  }
  return together;
}

/// The study of one data set.
class DataStudy {
 public:
  DataStudy(const StudyInput& input, const StudyOptions& options, Journal& journal, Backend& backend,
            const Execution& execution, const StudyWatcher& watcher,
            std::optional<Points::Clock::time_point> until, Processes* processes, StudyResults& results)
      : input_(input),
        options_(options),
        journal_(journal),
        watcher_(watcher),
        trainer_(input.data, input.all_rows ? std::filesystem::path() : input.folder, Keep::shared_parts,
                 options.memory_limit, backend, execution),
        points_(trainer_, options.measure, &journal, execution, with_later_searches(), until),
        own_points_(trainer_, options.measure, nullptr, execution),
        processes_(processes),
        found_(input.name, input.paper_data, points_, input.whole(), &journal, execution, until, results),
        until_(until) {}

  /// Error{resources} if something would not fit, before any work.
  void check_memory() const {
    for (const Task& task : tasks_of(input_, options_)) check_task_memory(task, input_, options_);
  }

  void run() {
    std::optional<PointTeam> team;
    if (processes_ != nullptr && processes_->several())
      points_.share_with(&team.emplace(*processes_, own_points_));
    search_all(team ? &*team : nullptr);
    points_.share_with(nullptr);
  }

 private:
  /// Several processes train the chosen models of all searches together, after the last of these; one trains
  /// them after each, so that a study whose time is up has rows of models that are done.
  void search_all(PointTeam* team) {
    for (const std::int64_t rank : options_.ranks) {
      if (rank >= directions_of(input_))
        say(fmt::format("{}: rank {} is left out, because there are only {} directions", input_.name, rank,
                        directions_of(input_)));
    }
    const std::vector<Task> all = tasks_of(input_, options_, [this](const std::string& line) { say(line); });
    if (watcher_.planned && !time_is_up()) {
      const Plan plan = planned(all);
      watcher_.planned(input_.name, all.size(), plan.points, plan.seconds);
    }
    std::map<const Task*, SearchResult> results;
    for (const Task& task : all) {
      if (!results.contains(&task)) {
        const std::vector<const Task*> together = searched_with(task, all);
        std::vector<Task> later;
        for (const Task& each : std::span(all).subspan(&task - all.data() + 1)) {
          if (std::ranges::find(together, &each) == together.end()) later.push_back(each);
        }
        later_ = planned(later);
        search_together(together, results);
      }
      if (team == nullptr) found_.add(task.model, task.space, results.at(&task));
    }
    if (team != nullptr) {
      std::vector<Searched> searches;
      searches.reserve(all.size());
      for (const Task& task : all) searches.push_back({task.model, task.space, results.at(&task)});
      found_.measure_together(*team, searches);
      for (const Searched& each : searches) found_.add(each.model, each.space, each.result);
    }
    found_.finish();
  }

  /// First points that are not in the journal, and their expected seconds.
  struct Plan {
    std::size_t points = 0;
    double seconds = 0;
  };
  [[nodiscard]] Plan planned(std::span<const Task> tasks) {
    Plan plan;
    for (const Task& task : tasks) {
      // By profiles a search that was begun counts as done: how much is left is not known before it
      // continues.
      const std::vector<ModelParameters> first = first_points(task.space);
      const bool grid = task.space.method == SearchMethod::grid;
      if (!grid && journal_.find(points_.key(first.front())) != nullptr) continue;
      std::size_t points = 0;
      double seconds = 0;
      for (const ModelParameters& point : first) {
        if (grid && journal_.find(points_.key(point)) != nullptr) continue;
        ++points;
        // A grid trains the other diagonal in the same solve.
        seconds += trainer_.expected_seconds(point) / (grid && task.space.both_diagonals ? 2 : 1);
      }
      const std::size_t usual = grid ? points : usual_points(task.space);
      plan.points += usual;
      if (points > 0) plan.seconds += seconds * static_cast<double>(usual) / static_cast<double>(points);
    }
    return plan;
  }

  /// The watcher of the points, which counts all that is left of the data set.
  PointWatcher with_later_searches() {
    if (!watcher_.points.trained) return {};
    return {.trained = [this](const PointResult& result, std::size_t left, double seconds) {
      watcher_.points.trained(result, left + later_.points, seconds + later_.seconds * points_.pace());
    }};
  }

  /// After this, results come from the journal, as far as it has them.
  [[nodiscard]] bool time_is_up() const { return until_ && Points::Clock::now() >= *until_; }

  void say(const std::string& line) const {
    if (watcher_.say) watcher_.say(line);
  }

  void search_together(const std::vector<const Task*>& tasks, std::map<const Task*, SearchResult>& results) {
    const StudyModel& model = tasks.front()->model;
    std::vector<std::string> names;
    std::vector<SearchSpace> spaces;
    for (const Task* const task : tasks) {
      names.push_back(task->name);
      spaces.push_back(task->space);
    }
    if (watcher_.searching && !time_is_up())
      watcher_.searching(fmt::format("{}", fmt::join(names, " and ")) +
                         (model.rank ? fmt::format(", rank {}", *model.rank) : ""));
    std::vector<SearchResult> found = search(points_, spaces);
    for (std::size_t k = 0; k < tasks.size(); ++k) results.emplace(tasks[k], std::move(found[k]));
  }

  const StudyInput& input_;
  const StudyOptions& options_;
  Journal& journal_;
  const StudyWatcher& watcher_;
  Trainer trainer_;
  Points points_;
  Points own_points_;  ///< of this process, if there are others too
  Processes* processes_;
  SearchedData found_;
  std::optional<Points::Clock::time_point> until_;
  Plan later_;  ///< the searches after the present one
};

}  // namespace

void put_in_order(StudyOptions& options) {
  for (std::vector<std::int64_t>* const values : {&options.ranks, &options.neighbours}) {
    std::ranges::sort(*values);
    values->erase(std::unique(values->begin(), values->end()), values->end());
    if (!values->empty() && values->front() < 1)
      fail(ErrorKind::usage, "a {} of {} is out of range: at least 1 is needed",
           values == &options.ranks ? "rank" : "number of neighbours", values->front());
  }
  if (!options.neighbours.empty() && std::ranges::all_of(options.kinds, &ModelKind::low_rank))
    fail(ErrorKind::usage, "{} is of full-rank models, and {} has none; leave it out", "neighbours"_p,
         "models"_p);
  if (options.alpha_negative.empty()) return;
  for (const ModelKind& kind : options.kinds) validate(task_space(kind, {}, options.base, options));
}

Work study_work(std::span<const StudyInput> inputs, const StudyOptions& options, double enough) {
  Work work;
  for (const StudyInput& input : inputs) {
    for (const Task& task : tasks_of(input, options)) {
      const Work one = training_work(first_points(task.space), input.data.dataset.training_rows(),
                                     input.data.dataset.features.rows.view(), options.memory_limit,
                                     enough - work.operations);
      work = {work.operations + one.operations, std::max(work.gpu_bytes, one.gpu_bytes)};
    }
  }
  return work;
}

StudyResults study(std::span<const StudyInput> inputs, const StudyOptions& options, Journal& journal,
                   Backend& backend, const Execution& execution, const StudyWatcher& watcher,
                   std::optional<Points::Clock::time_point> until, Processes* processes) {
  for (const StudyInput& input : inputs) check(input);
  StudyResults results = no_results(options.measure);
  const auto study_of = [&](const StudyInput& input) {
    return DataStudy(input, options, journal, backend, execution, watcher, until, processes, results);
  };
  for (const StudyInput& input : inputs) study_of(input).check_memory();
  for (const StudyInput& input : inputs) study_of(input).run();

  correct_against_popularity(results);
  return results;
}

void serve_study(std::span<const StudyInput> inputs, const StudyOptions& options, Backend& backend,
                 const Execution& execution, Processes& processes) {
  for (const StudyInput& input : inputs) {
    Trainer trainer(input.data, input.all_rows ? std::filesystem::path() : input.folder, Keep::shared_parts,
                    options.memory_limit, backend, execution);
    Points points(trainer, options.measure, nullptr, execution);
    std::optional<TestPart> part;  // made for the first chosen model
    serve_points(processes, points, [&](const std::string& message) {
      if (!part) part.emplace(input.name, points, input.whole(), execution);
      return answer_to_chosen(message, *part);
    });
  }
}

}  // namespace poise
