#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poise/backend/backend.hpp"
#include "poise/backend/choose.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/search/chosen.hpp"
#include "poise/study/models.hpp"
#include "poise/study/results.hpp"

namespace poise {

/// A prepared data set under the name that the tables call it.
struct StudyInput {
  std::string name;
  std::filesystem::path folder;
  LoadedDataset data;
  std::string paper_data = {};  ///< see StudyData
  /// Where the validation part of `data` was made of training rows: the data before that, on all rows of
  /// which chosen points are trained for the test part.
  std::optional<LoadedDataset> all_rows = {};

  /// The data as they were prepared.
  [[nodiscard]] const LoadedDataset& prepared() const { return all_rows ? *all_rows : data; }
  [[nodiscard]] AllRows whole() const { return all_rows ? AllRows{&*all_rows, folder} : AllRows{}; }
};

struct StudyOptions {
  std::vector<ModelKind> kinds = kinds_of_all();
  std::vector<std::int64_t> ranks = {10, 100, 1000};
  SearchMethod method = SearchMethod::best;
  std::vector<double> alphas = paper_alphas;  ///< of a grid, as what follows
  bool expand = true;
  int refine = 0;
  std::optional<std::size_t> most_points = {};  ///< of each search
  MeasureOptions measure = {};
  ModelParameters base = {};  ///< tolerance, rounds, start and seed of every model
  std::uint64_t memory_limit = 0;
};

/// What a study says to its surroundings.
struct StudyWatcher {
  PointWatcher points = {};  ///< what is left counts the data set's later searches too
  /// Before a data set: how many searches there are, their first points that are not in the journal, and the
  /// seconds that these may take.
  std::function<void(const std::string& data, std::size_t searches, std::size_t points, double seconds)>
      planned = {};
  std::function<void(const std::string& model)> searching = {};  ///< before a search: "wmf, rank 10"
  std::function<void(const std::string&)> say = {};              ///< one line about what is left out
};

/// The work of the searches' first points; operations are counted until they are `enough`.
Work study_work(std::span<const StudyInput> inputs, const StudyOptions& options, double enough);

/// The paper's experiment: for every data set, kind and rank a search, in which the validation part chooses
/// the best unweighted and the best weighted point, and the best with alpha below 1 (of a grid only where it
/// is better than both); these are trained to convergence, and the test part is read once, for them.
/// Everything that took time goes to the journal, and what is there is not done again. Ranks that are not
/// below the number of items are left out for that data set. When the time is up nothing is trained any more:
/// the results have what the journal has, and are not complete. Before any work: Error{input} for data
/// without validation or test part, Error{resources} when a model would not fit.
StudyResults study(std::span<const StudyInput> inputs, const StudyOptions& options, Journal& journal,
                   Backend& backend, const Execution& execution, const StudyWatcher& watcher,
                   std::optional<Points::Clock::time_point> until);

}  // namespace poise
