#include "poise/study/study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "poise/backend/choose.hpp"
#include "poise/base/error.hpp"
#include "poise/data/resplit.hpp"
#include "poise/data/validation_from_training.hpp"
#include "poise/report/report.hpp"

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

/// All files of a study, by name.
using Files = std::map<std::string, std::string>;

using Flags = std::vector<std::pair<std::string, std::string>>;

Flags with_splits(Flags flags, bool cuts, const std::string& splits) {
  flags.emplace_back(cuts ? "--over-cuts" : "--seeds", splits);
  return flags;
}

/// The files over splits by seeds or, without seeds, over cuts in time, which the data are;
/// and those of each split under its folder's name: "seed-1/tables.md".
Files over_many(const std::vector<StudyInput>& data, const std::vector<std::uint32_t>& seeds,
                const StudyOptions& options, std::optional<Points::Clock::time_point> until, Journal& journal,
                Backend& backend, const Flags& flags, const Execution& execution) {
  const auto begin = Points::Clock::now();
  const auto seconds_since = [](Points::Clock::time_point time) {
    return std::chrono::duration<double>(Points::Clock::now() - time).count();
  };
  auto begin_of_split = begin;
  const bool cuts = seeds.empty();
  const std::vector<std::string> names = cuts ? names_of_cuts(data) : std::vector<std::string>();
  Files files;
  const SplitsWatcher splits{
      .begin = [&](std::uint32_t /*seed*/, std::size_t /*place*/) { begin_of_split = Points::Clock::now(); },
      .finished =
          [&](std::uint32_t seed, StudyResults& results) {
            results.options = with_splits(flags, cuts, cuts ? names[seed - 1] : fmt::format("{}", seed));
            results.conclusions = conclude(results);
            results.seconds = seconds_since(begin_of_split);
            for (auto& [name, text] : study_files(results))
              files[folder_of_split(seed, cuts) + "/" + name] = std::move(text);
          }};
  const StudyWatcher watcher{.points = watcher_of(execution.observer)};
  SplitsResults results =
      cuts ? study_cuts(data, options, journal, backend, execution, watcher, until, splits)
           : study_splits(data, seeds, options, journal, backend, execution, watcher, until, splits);
  results.means.options =
      with_splits(flags, cuts,
                  cuts ? fmt::format("{}", fmt::join(names, ",")) : fmt::format("{}", fmt::join(seeds, ",")));
  results.means.conclusions = conclude(results);
  results.means.seconds = seconds_since(begin);
  files.merge(splits_files(results));
  return files;
}

}  // namespace

void bind_study(py::module_& module) {
  using Texts = std::vector<std::string>;
  module.def(
      "study",
      [](const std::vector<Input>& inputs, const std::string& models, const std::vector<std::int64_t>& ranks,
         const std::vector<std::int64_t>& neighbours, double tolerance, std::uint64_t seed,
         const std::vector<std::uint32_t>& seeds, bool over_cuts, const py::dict& options,
         const std::vector<std::pair<std::string, std::string>>& option_list, const std::string& journal_path,
         const std::string& device, std::uint64_t memory_limit, int threads, const py::object& progress) {
        const Searching searching = searching_of(options);
        StudyOptions study_options{.kinds = parse_kinds(models),
                                   .ranks = ranks,
                                   .neighbours = neighbours,
                                   .alpha_negative = options["alpha_negative"].cast<Texts>(),
                                   .method = searching.method,
                                   .alphas = searching.alphas,
                                   .expand = searching.expand,
                                   .refine = searching.refine,
                                   .most_points = searching.points,
                                   .measure = searching.measure,
                                   .base = {.tolerance = tolerance, .rounds = 1000, .seed = seed},
                                   .memory_limit = memory_limit};
        put_in_order(study_options);
        return run({threads, progress}, [&](const Execution& execution) -> Files {
          const auto begin = Points::Clock::now();
          std::vector<StudyInput> data;
          for (const auto& [name, folder, each, paper] : inputs) {
            each->identify(execution);
            data.push_back({.name = name, .folder = folder, .data = *each->loaded(), .paper_data = paper});
            if (over_cuts) continue;
            if (!seeds.empty()) {
              check_can_split_again(each->dataset(), name);
            } else if (lacks_given_validation(each->dataset())) {
              data.back().data = validation_from_training(*each->loaded(), seed, execution);
              data.back().all_rows = *each->loaded();
            }
          }
          if (over_cuts) static_cast<void>(names_of_cuts(data));
          const auto backend = backend_of(
              device, [&] { return study_work(data, study_options, worth_a_gpu); }, execution);
          Journal journal(journal_path, journal_header(searching.measure, memory_limit, *backend));
          if (!seeds.empty() || over_cuts)
            return over_many(data, seeds, study_options, searching.until, journal, *backend, option_list,
                             execution);
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
