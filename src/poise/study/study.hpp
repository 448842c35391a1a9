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
#include "poise/comm/processes.hpp"
#include "poise/data/dataset_file.hpp"
#include "poise/search/chosen.hpp"
#include "poise/study/models.hpp"
#include "poise/study/results.hpp"

namespace poise {

/// A prepared data set and its name in the tables.
struct StudyInput {
  std::string name;
  std::filesystem::path folder;
  LoadedDataset data;
  std::string paper_data = {};  ///< see StudyData
  /// If the validation part of `data` was made of training rows: the data before that. Chosen points are
  /// trained on all their rows for the test part.
  std::optional<LoadedDataset> all_rows = {};

  /// The data as they were prepared.
  [[nodiscard]] const LoadedDataset& prepared() const { return all_rows ? *all_rows : data; }
  [[nodiscard]] AllRows whole() const { return all_rows ? AllRows{&*all_rows, folder} : AllRows{}; }
};

struct StudyOptions {
  std::vector<ModelKind> kinds = kinds_of_all();
  std::vector<std::int64_t> ranks = {10, 100, 1000};
  /// Each kind of full rank is studied with these numbers of neighbours too, ascending; where its dense model
  /// does not fit, with these alone.
  std::vector<std::int64_t> neighbours = {};
  /// What every search has as its weight of dislikes: values of that axis, or by profiles its range or
  /// "auto"; none: 1.
  std::vector<std::string> alpha_negative = {};
  SearchMethod method = SearchMethod::best;
  std::vector<double> alphas = paper_alphas;  ///< for a grid, like the next ones
  bool expand = true;
  int refine = 0;
  std::optional<std::size_t> most_points = {};  ///< for each search
  MeasureOptions measure = {};
  ModelParameters base = {};  ///< tolerance, rounds, start and seed of every model
  std::uint64_t memory_limit = 0;
};

/// Sorts ranks and numbers of neighbours, each once. Error{usage} for those below 1, for neighbours where no
/// kind is of full rank, and for weights of dislikes out of range.
void put_in_order(StudyOptions& options);

/// Callbacks of a study.
struct StudyWatcher {
  PointWatcher points = {};  ///< "left" also counts the data set's later searches
  /// Before a data set: how many searches there are, how many of their first points are not in the journal,
  /// and the expected seconds of these.
  std::function<void(const std::string& data, std::size_t searches, std::size_t points, double seconds)>
      planned = {};
  std::function<void(const std::string& model)> searching = {};  ///< before a search: "wmf, rank 10"
  std::function<void(const std::string&)> say = {};  ///< one line about something that is left out
};

/// The work of the searches' first points; counting stops at `enough` operations.
Work study_work(std::span<const StudyInput> inputs, const StudyOptions& options, double enough);

/// The paper's experiment: for every data set, kind and rank a search, in which the validation part chooses
/// the best unweighted and the best weighted point, and the best with alpha below 1 (for a grid only if it is
/// better than both). These are trained to convergence, and the test part is read once, for them. Everything
/// that took time is written to the journal, and entries of the journal are not computed again. Ranks that
/// are not below the number of items are left out for that data set, and so are dense models that do not fit
/// if there are neighbours. When the time is up nothing more is trained: the results have what the journal
/// has, and are not complete. Before any work: Error{input} for data without validation or test part,
/// Error{resources} if a model would not fit. Of several processes the first one calls it, and all train its
/// points; chosen points are trained by the first one.
StudyResults study(std::span<const StudyInput> inputs, const StudyOptions& options, Journal& journal,
                   Backend& backend, const Execution& execution, const StudyWatcher& watcher,
                   std::optional<Points::Clock::time_point> until, Processes* processes = nullptr);

/// What the other processes do while the first one is in study() with the same arguments: they train the
/// points that it hands out (search/point_team.hpp).
void serve_study(std::span<const StudyInput> inputs, const StudyOptions& options, Backend& backend,
                 const Execution& execution, Processes& processes);

}  // namespace poise
