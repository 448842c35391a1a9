#include "poise/search/search.hpp"

#include <nlohmann/json.hpp>

#include "poise/backend/choose.hpp"
#include "poise/base/error.hpp"
#include "poise/data/validation_from_training.hpp"
#include "poise/report/report.hpp"
#include "poise/search/search_json.hpp"
#include "poise/search/space_axes.hpp"
#include "poise/study/search_study.hpp"
#include "poise/train/cost.hpp"

#include "arrays.hpp"
#include "data.hpp"
#include "parts.hpp"
#include "searching.hpp"
#include "train.hpp"
#include "work.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

SearchSpace space_of(const py::dict& base, const py::dict& axes, const Searching& searching) {
  SearchSpace space{.base = parameters_of(base),
                    .method = searching.method,
                    .lambda = searching.lambdas,
                    .alpha = searching.alphas,
                    .expand = searching.expand,
                    .refine = searching.refine,
                    .most_points = searching.points};
  for (const auto& [id, values] : axes) {
    const std::vector<std::string> texts = texts_of_values(values);
    set_axis(space, py::cast<std::string>(id), texts.empty() ? std::vector<std::string>{"auto"} : texts);
  }
  validate(space);
  return space;
}

/// The results of a search as JSON, the chosen model, if there is one, and the files of its report.
struct Found {
  std::string json;
  std::optional<Model> model = {};
  std::map<std::string, std::string> report = {};
};

/// The options of the report: the data's name, and --grid. None: no report.
using AskedReport = std::optional<std::pair<std::string, std::string>>;

Found explore(const Data& data, const std::string& folder, const SearchSpace& space,
              const Searching& searching, const AskedReport& report, const std::string& journal_path,
              const std::string& device, std::uint64_t memory_limit, const Execution& execution) {
  data.identify(execution);
  const LoadedDataset& prepared = *data.loaded();
  std::optional<LoadedDataset> derived;
  if (lacks_given_validation(prepared.dataset))
    derived = validation_from_training(prepared, space.base.seed, execution);
  const AllRows all_rows = derived ? AllRows{&prepared, folder} : AllRows{};
  const LoadedDataset& loaded = derived ? *derived : prepared;
  const Dataset& dataset = loaded.dataset;
  if (!dataset.validation || dataset.validation->targets.entries() == 0)
    fail(ErrorKind::input, "the data has no validation part to choose on; split it with poise.split");
  const CsrView features = dataset.features.rows.view();
  check_memory(space, prepared.dataset.training_rows(), features, memory_limit);
  const auto backend = backend_of(
      device,
      [&] {
        return training_work(first_points(space), dataset.training_rows(), features, memory_limit,
                             worth_a_gpu);
      },
      execution);
  check_device(first_points(space), *backend);
  std::optional<Journal> journal;
  if (!journal_path.empty())
    journal.emplace(journal_path, journal_header(searching.measure, memory_limit, *backend));
  Trainer trainer(loaded, derived ? std::string() : folder, Keep::shared_parts, memory_limit, *backend,
                  execution);
  Points points(trainer, searching.measure, journal ? &*journal : nullptr, execution,
                watcher_of(execution.observer), searching.until);
  const auto begin = Points::Clock::now();
  const SearchResult result = search(points, space);
  if (!result.best && result.complete)
    fail(ErrorKind::numerical, "no point of the grid has a model; raise {}", "lambda"_p);
  Found found;
  nlohmann::ordered_json best;
  if (result.best) {
    const ModelParameters chosen = to_convergence(*result.best, space);
    Chosen trained = train_chosen(chosen, points, all_rows, execution);
    best = chosen_json(chosen, trained, space.method);
    found.model.emplace(
        model_of(chosen, std::move(trained.trained), dataset.items, prepared.checksum, best.dump()));
  }
  nlohmann::ordered_json json = search_json(result, points, best);
  json["device"] = backend->name();
  if (derived) json["validation_from_training"] = dataset.validation->targets.entries();
  found.json = json.dump();
  if (report) {
    const auto& [name, grid] = *report;
    StudyResults results = search_study(name, points, all_rows, journal ? &*journal : nullptr, space, result,
                                        grid, execution, searching.until);
    results.conclusions = conclude(results);
    results.seconds = std::chrono::duration<double>(Points::Clock::now() - begin).count();
    found.report = study_files(results);
  }
  return found;
}

}  // namespace

void bind_search(py::module_& module) {
  module.def(
      "search",
      [](const Data& data, const std::string& folder, const py::dict& base, const py::dict& axes,
         const py::dict& options, const std::optional<std::string>& report, const std::string& journal,
         const std::string& device, std::uint64_t memory_limit, int threads, const py::object& progress) {
        const Searching searching = searching_of(options);
        const SearchSpace space = space_of(base, axes, searching);
        AskedReport asked;
        if (report) asked = {*report, py::cast<std::string>(options["grid"])};
        Found found = run({threads, progress}, [&](const Execution& execution) {
          return explore(data, folder, space, searching, asked, journal, device, memory_limit, execution);
        });
        return std::tuple(std::move(found.json), std::move(found.model), std::move(found.report));
      });
}

}  // namespace poise::python
