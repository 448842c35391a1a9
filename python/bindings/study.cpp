#include "poise/study/study.hpp"

#include <algorithm>

#include "poise/backend/choose.hpp"
#include "poise/base/error.hpp"
#include "poise/data/validation_from_training.hpp"
#include "poise/report/conclude.hpp"
#include "poise/report/files.hpp"

#include "arrays.hpp"
#include "data.hpp"
#include "parts.hpp"
#include "searching.hpp"
#include "train.hpp"
#include "work.hpp"

namespace py = pybind11;

namespace poise::python {
namespace {

/// (name, folder or "", data, the paper's name of it or "").
using Input = std::tuple<std::string, std::string, std::shared_ptr<Data>, std::string>;

/// Everything a study writes, by file name.
using Files = std::map<std::string, std::string>;

}  // namespace

void bind_study(py::module_& module) {
  module.def(
      "study",
      [](const std::vector<Input>& inputs, const std::string& models, std::vector<std::int64_t> ranks,
         double tolerance, std::uint64_t seed, const py::dict& options,
         const std::vector<std::pair<std::string, std::string>>& option_list, const std::string& journal_path,
         const std::string& device, std::uint64_t memory_limit, int threads, const py::object& progress) {
        const Searching searching = searching_of(options);
        std::ranges::sort(ranks);
        ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        if (!ranks.empty() && ranks.front() < 1)
          fail(ErrorKind::usage, "a rank of {} is out of range: at least 1 is needed", ranks.front());
        const StudyOptions study_options{.kinds = parse_kinds(models),
                                         .ranks = ranks,
                                         .method = searching.method,
                                         .alphas = searching.alphas,
                                         .expand = searching.expand,
                                         .refine = searching.refine,
                                         .most_points = searching.points,
                                         .measure = searching.measure,
                                         .base = {.tolerance = tolerance, .rounds = 1000, .seed = seed},
                                         .memory_limit = memory_limit};
        return run({threads, progress}, [&](const Execution& execution) -> Files {
          const auto begin = Points::Clock::now();
          std::vector<StudyInput> data;
          for (const auto& [name, folder, each, paper] : inputs) {
            each->identify(execution);
            data.push_back({.name = name, .folder = folder, .data = *each->loaded(), .paper_data = paper});
            if (lacks_given_validation(each->dataset())) {
              data.back().data = validation_from_training(*each->loaded(), seed, execution);
              data.back().all_rows = *each->loaded();
            }
          }
          const auto backend = backend_of(
              device, [&] { return study_work(data, study_options, worth_a_gpu); }, execution);
          Journal journal(journal_path, journal_header(searching.measure, memory_limit, *backend));
          StudyResults results = study(data, study_options, journal, *backend, execution,
                                       {.points = watcher_of(execution.observer)}, searching.until);
          results.options = option_list;
          results.conclusions = conclude(results);
          results.seconds = std::chrono::duration<double>(Points::Clock::now() - begin).count();
          return study_files(results);
        });
      });
}

}  // namespace poise::python
