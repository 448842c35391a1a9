#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poise/study/study.hpp"

namespace poise {

/// A figure in each split, in the order of the seeds; none if the split does not have it.
using SplitValues = std::vector<std::optional<double>>;

/// A row in all splits that have it.
struct SplitRow {
  SplitValues alpha;
  SplitValues lambda;
  SplitValues dropout;
  SplitValues lambda_exponent;
  SplitValues feature_weight;
  SplitValues alpha_negative;
  std::vector<SplitValues> validation;  ///< by metric
  std::vector<SplitValues> test;        ///< by metric
  int splits = 0;                       ///< how many have it
  int best_on_validation = 0;           ///< how many have it as the data's best
  int complete = 0;                     ///< how many searched it to the end
  int above_popularity = 0;             ///< how many have it above popularity, on the metric that chooses
};

/// A weighted row less the unweighted one.
struct SplitPair {
  SplitValues difference;
  std::optional<double> spread;  ///< their standard deviation; none for a single split
  int splits = 0;
  int positive = 0;
  int complete = 0;  ///< splits in which both were searched to the end
};

/// The results of a study over several splits of the same data.
struct SplitsResults {
  std::vector<std::uint32_t> seeds;      ///< of the splits that were studied
  std::vector<std::uint32_t> unstudied;  ///< seeds of the splits that were not finished when the time was up
  /// Of a study over cuts in time: where the test part of each begins, in their order. The seeds are then the
  /// numbers of the cuts, from 1.
  std::vector<std::string> cuts = {};
  std::vector<std::vector<StudyData>> data;  ///< of each split
  /// Results of a study whose figures are over splits: estimates are means with their standard deviations,
  /// alpha and lambda geometric means, pairs the differences of the splits with the interval and p of
  /// over_splits(). Its data are those of the first split, and it has neither points nor profiles.
  StudyResults means;
  std::vector<SplitRow> rows;    ///< for means.rows
  std::vector<SplitPair> pairs;  ///< for means.pairs
};

/// The mean of differences of splits, with the 95 % interval and two-sided p of the corrected resampled t
/// test (Nadeau and Bengio, Machine Learning 52, 2003): splits share most of their rows, so that the variance
/// of their mean is (1 / n + test_to_train) times that of one split and not 1 / n times. It has n - 1 degrees
/// of freedom: with a single split p = 1 and the interval has no ends.
PairedDifference over_splits(std::span<const double> differences, double test_to_train);

/// A split's name in tables: its seed, or where its cut is.
std::string split_name(const SplitsResults& results, std::uint32_t seed);

/// Combines the studies of several splits. Its rows are those of any split. Splits that the time did not
/// suffice for are only listed, so that all rows are over the same splits. The caller sets options,
/// conclusions and time. With `cuts` the splits differ in size, and the largest ratio of test to training
/// rows widens the intervals.
SplitsResults over_splits(std::span<const std::uint32_t> seeds, std::span<const StudyResults> splits,
                          std::vector<std::string> cuts = {});

/// Receives the beginning and end of each split.
struct SplitsWatcher {
  std::function<void(std::uint32_t seed, std::size_t place)> begin = {};         ///< before a split
  std::function<void(std::uint32_t seed, StudyResults& results)> finished = {};  ///< after it
};

/// study() of the data split again with each seed (split_again), one after the other, with the same journal,
/// whose keys hold the checksums of the splits. `inputs` are as they were prepared: if they have no
/// validation part, each split makes it from its training rows. When the time is up, the other splits are
/// taken from the journal as far as it has them.
SplitsResults study_splits(std::span<const StudyInput> inputs, std::span<const std::uint32_t> seeds,
                           const StudyOptions& options, Journal& journal, Backend& backend,
                           const Execution& execution, const StudyWatcher& watcher,
                           std::optional<Points::Clock::time_point> until,
                           const SplitsWatcher& splits_watcher, Processes* processes = nullptr);

/// The cuts of one log in time (SplitKind::time), each prepared by itself: their test parts' begins, as
/// texts. Error{usage} for fewer than two, Error{input} for data of another split or with the same cut twice,
/// or in another order than that of time.
std::vector<std::string> names_of_cuts(std::span<const StudyInput> cuts);

/// study() of each cut, as study_splits does it for seeds; all inputs have the same name.
SplitsResults study_cuts(std::span<const StudyInput> cuts, const StudyOptions& options, Journal& journal,
                         Backend& backend, const Execution& execution, const StudyWatcher& watcher,
                         std::optional<Points::Clock::time_point> until, const SplitsWatcher& splits_watcher,
                         Processes* processes = nullptr);
void serve_cuts(std::span<const StudyInput> cuts, const StudyOptions& options, Backend& backend,
                const Execution& execution, Processes& processes);

/// What the other processes do meanwhile, as serve_study().
void serve_splits(std::span<const StudyInput> inputs, std::span<const std::uint32_t> seeds,
                  const StudyOptions& options, Backend& backend, const Execution& execution,
                  Processes& processes);

/// A study's keys, with "splits" and the figures of each split in rows and pairs: docs/study.md.
nlohmann::ordered_json to_json(const SplitsResults& results);

/// One line for each row and metric; no times, no paths.
std::string to_csv(const SplitsResults& results);

/// The row with the highest mean on validation, of those that every split has and `among` accepts; null if
/// there is none. A row that only some splits have may be there because it was best in them.
const StudyRow* best_over_splits(const SplitsResults& results,
                                 const std::function<bool(const StudyRow&)>& among);

/// The standard deviation; none for fewer than two values.
std::optional<double> spread_of(std::span<const double> values);

/// The figures of the splits that have one.
std::vector<double> present(const SplitValues& values);

}  // namespace poise
