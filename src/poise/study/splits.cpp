#include "poise/study/splits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "poise/base/error.hpp"
#include "poise/data/resplit.hpp"
#include "poise/data/times.hpp"
#include "poise/data/validation_from_training.hpp"
#include "poise/study/statistics.hpp"

namespace poise {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// For settings that are searched on a log scale; 0 if one of them is 0.
double geometric_mean(const SplitValues& values) {
  const std::vector<double> all = present(values);
  double sum = 0;
  for (const double value : all) sum += std::log(value);
  return all.empty() ? 0 : std::exp(sum / static_cast<double>(all.size()));
}

Estimate estimate_of(const SplitValues& values) {
  const std::vector<double> all = present(values);
  return {.mean = mean_of(all), .standard_error = spread_of(all)};
}

template <class T>
const T* find_like(const std::vector<T>& all, const T& wanted) {
  const auto found = std::ranges::find_if(all, [&](const T& one) {
    bool same = static_cast<const RowName&>(one) == wanted;
    if constexpr (requires { one.metric; }) same = same && one.metric == wanted.metric;
    return same;
  });
  return found == all.end() ? nullptr : &*found;
}

/// The elements of all splits, once each, in the order of the first split that has them.
template <class T>
std::vector<T> united(std::span<const StudyResults> splits, std::vector<T> StudyResults::*member) {
  std::vector<T> all;
  for (const StudyResults& split : splits) {
    for (const T& one : split.*member) {
      if (find_like(all, one) == nullptr) all.push_back(one);
    }
  }
  return all;
}

/// A row's figure on the metric that chooses, on the test part.
std::optional<double> test_figure(const StudyResults& split, const StudyRow& row) {
  const Estimate* const estimate = find(row.test, split.choice);
  return estimate == nullptr ? std::nullopt : std::optional(estimate->mean);
}

const StudyRow* popularity_of(const StudyResults& split, const std::string& data) {
  const auto found = std::ranges::find_if(
      split.rows, [&](const StudyRow& row) { return row.data == data && row.model.key == "popularity"; });
  return found == split.rows.end() ? nullptr : &*found;
}

void add_split(SplitRow& to, const StudyResults& split, const StudyRow* row) {
  const auto put = [&](SplitValues& values, double StudyRow::*member) {
    values.push_back(row == nullptr ? std::nullopt : std::optional(row->*member));
  };
  put(to.alpha, &StudyRow::alpha);
  put(to.lambda, &StudyRow::lambda);
  put(to.dropout, &StudyRow::dropout);
  put(to.lambda_exponent, &StudyRow::lambda_exponent);
  put(to.feature_weight, &StudyRow::feature_weight);
  put(to.alpha_negative, &StudyRow::alpha_negative);
  for (std::size_t k = 0; k < split.metrics.size(); ++k) {
    const auto figure = [&](const Estimates StudyRow::*part) -> std::optional<double> {
      const Estimate* const estimate = row == nullptr ? nullptr : find(row->*part, split.metrics[k]);
      return estimate == nullptr ? std::nullopt : std::optional(estimate->mean);
    };
    to.validation[k].push_back(figure(&StudyRow::validation));
    to.test[k].push_back(figure(&StudyRow::test));
  }
  if (row == nullptr) return;
  ++to.splits;
  if (best_on_validation(split, row->data) == row) ++to.best_on_validation;
  if (row->search_complete) ++to.complete;
  const StudyRow* const popularity = popularity_of(split, row->data);
  if (popularity != nullptr && test_figure(split, *row) > test_figure(split, *popularity))
    ++to.above_popularity;
}

/// A row of means from those of the splits; `row` is any of them.
StudyRow mean_row(StudyRow row, const SplitRow& all, const std::vector<std::string>& metrics) {
  row.alpha = geometric_mean(all.alpha);
  row.lambda = geometric_mean(all.lambda);
  row.dropout = mean_of(present(all.dropout));
  row.lambda_exponent = mean_of(present(all.lambda_exponent));
  row.feature_weight = geometric_mean(all.feature_weight);
  row.alpha_negative = geometric_mean(all.alpha_negative);
  row.validation.clear();
  row.test.clear();
  for (std::size_t k = 0; k < metrics.size(); ++k) {
    if (!present(all.validation[k]).empty())
      row.validation.emplace_back(metrics[k], estimate_of(all.validation[k]));
    if (!present(all.test[k]).empty()) row.test.emplace_back(metrics[k], estimate_of(all.test[k]));
  }
  row.search_complete = all.complete == all.splits;
  // Figures of a single model have no meaningful mean.
  row.objective = row.observed_weight = std::numeric_limits<double>::quiet_NaN();
  row.convergence.clear();
  row.by_popularity.clear();
  row.beyond.clear();
  return row;
}

/// Whether all its rows were trained to convergence, perhaps after a search that ran out of points.
bool was_studied(const StudyResults& split) {
  return std::ranges::all_of(split.rows, &StudyRow::final) &&
         std::ranges::none_of(split.unfinished, [](const UnfinishedSearch& search) {
           return search.state == UnfinishedSearch::State::not_begun;
         });
}

/// Splits by seeds have equal sizes, and the first one's ratio counts; of cuts it is the largest.
double test_to_train_of(std::span<const StudyResults> splits, const std::string& data, bool cuts) {
  double largest = 0;
  for (const StudyResults& split : splits) {
    for (const StudyData& part : split.data) {
      if (part.name != data) continue;
      if (!cuts) return part.test_to_train;
      largest = std::max(largest, part.test_to_train);
    }
  }
  return largest;
}

std::vector<StudyInput> split_inputs(std::span<const StudyInput> inputs, std::uint32_t seed,
                                     std::uint64_t validation_seed, const Execution& execution) {
  std::vector<StudyInput> again;
  for (const StudyInput& input : inputs) {
    Dataset dataset = split_again(input.data.dataset, seed, input.folder.string(), execution);
    // A split's eigenpairs are not stored beside the data, unless the split is the prepared one.
    const bool as_prepared = dataset == input.data.dataset;
    std::string checksum = as_prepared ? input.data.checksum : checksum_of(dataset, execution);
    again.push_back({.name = input.name,
                     .folder = as_prepared ? input.folder : std::filesystem::path(),
                     .data = {std::move(dataset), std::move(checksum)},
                     .paper_data = input.paper_data});
    StudyInput& last = again.back();
    if (lacks_given_validation(last.data.dataset)) {
      LoadedDataset derived = validation_from_training(last.data, validation_seed, execution);
      last.all_rows = std::exchange(last.data, std::move(derived));
    }
  }
  return again;
}

}  // namespace

const StudyRow* best_over_splits(const SplitsResults& results,
                                 const std::function<bool(const StudyRow&)>& among) {
  const StudyRow* best = nullptr;
  double highest = 0;
  for (std::size_t k = 0; k < results.rows.size(); ++k) {
    const StudyRow& row = results.means.rows[k];
    const Estimate* const estimate = find(row.validation, results.means.choice);
    if (results.rows[k].splits < std::ssize(results.seeds) || estimate == nullptr || !among(row)) continue;
    if (best != nullptr && !(estimate->mean > highest)) continue;
    best = &row;
    highest = estimate->mean;
  }
  return best;
}

std::optional<double> spread_of(std::span<const double> values) {
  if (values.size() < 2) return {};
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<double> present(const SplitValues& values) {
  std::vector<double> all;
  for (const std::optional<double>& value : values) {
    if (value) all.push_back(*value);
  }
  return all;
}

PairedDifference over_splits(std::span<const double> differences, double test_to_train) {
  if (differences.empty()) return {};
  std::optional<double> error = spread_of(differences);
  if (error) *error *= std::sqrt(1 / static_cast<double>(differences.size()) + test_to_train);
  return mean_difference(mean_of(differences), std::ssize(differences), error);
}

std::string split_name(const SplitsResults& results, std::uint32_t seed) {
  return results.cuts.empty() ? fmt::format("{}", seed) : results.cuts[seed - 1];
}

SplitsResults over_splits(std::span<const std::uint32_t> seeds, std::span<const StudyResults> all_splits,
                          std::vector<std::string> cuts) {
  SplitsResults results;
  results.cuts = std::move(cuts);
  std::vector<StudyResults> splits;
  for (std::size_t k = 0; k < seeds.size(); ++k) {
    const StudyResults& split = all_splits[k];
    // The next points are those that the first unfinished split has left.
    if (results.means.complete) results.means.missing = split.missing;
    results.means.complete = results.means.complete && split.complete;
    results.means.unfinished.insert(results.means.unfinished.end(), split.unfinished.begin(),
                                    split.unfinished.end());
    (was_studied(split) ? results.seeds : results.unstudied).push_back(seeds[k]);
    if (!was_studied(split)) continue;
    results.data.push_back(split.data);
    splits.push_back(split);
  }
  const StudyResults& first = all_splits.front();
  results.means.metrics = first.metrics;
  results.means.choice = first.choice;
  results.means.popularity_cutoff = first.popularity_cutoff;
  results.means.version = first.version;
  if (!splits.empty()) results.means.data = splits.front().data;

  for (const StudyRow& row : united(splits, &StudyResults::rows)) {
    SplitRow all;
    all.validation.resize(first.metrics.size());
    all.test.resize(first.metrics.size());
    for (const StudyResults& split : splits) add_split(all, split, find_like(split.rows, row));
    results.means.rows.push_back(mean_row(row, all, first.metrics));
    results.rows.push_back(std::move(all));
  }
  for (StudyPair pair : united(splits, &StudyResults::pairs)) {
    SplitPair all;
    for (const StudyResults& split : splits) {
      const StudyPair* const one = find_like(split.pairs, pair);
      all.difference.push_back(one == nullptr ? std::nullopt : std::optional(one->test.difference));
      if (one == nullptr) continue;
      ++all.splits;
      if (one->complete) ++all.complete;
      if (one->test.difference > 0) ++all.positive;
    }
    const std::vector<double> differences = present(all.difference);
    all.spread = spread_of(differences);
    pair.test = over_splits(differences, test_to_train_of(splits, pair.data, !results.cuts.empty()));
    pair.complete = all.complete == all.splits;
    results.means.pairs.push_back(std::move(pair));
    results.pairs.push_back(std::move(all));
  }
  return results;
}

SplitsResults study_splits(std::span<const StudyInput> inputs, std::span<const std::uint32_t> seeds,
                           const StudyOptions& options, Journal& journal, Backend& backend,
                           const Execution& execution, const StudyWatcher& watcher,
                           std::optional<Points::Clock::time_point> until,
                           const SplitsWatcher& splits_watcher, Processes* processes) {
  std::vector<StudyResults> splits;
  for (std::size_t k = 0; k < seeds.size(); ++k) {
    if (splits_watcher.begin) splits_watcher.begin(seeds[k], k);
    const std::vector<StudyInput> again = split_inputs(inputs, seeds[k], options.base.seed, execution);
    splits.push_back(study(again, options, journal, backend, execution, watcher, until, processes));
    if (splits_watcher.finished) splits_watcher.finished(seeds[k], splits.back());
  }
  return over_splits(seeds, splits);
}

std::vector<std::string> names_of_cuts(std::span<const StudyInput> cuts) {
  if (cuts.size() < 2) fail(ErrorKind::usage, "a study over cuts needs the prepared data of at least two");
  std::vector<std::string> names;
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    const Dataset& dataset = cuts[k].data.dataset;
    const std::string folder = cuts[k].folder.string();
    if (!dataset.cuts)
      fail(ErrorKind::input, "{} was prepared with {} {}; a study over cuts needs {} time", folder, "split"_p,
           to_string(dataset.split), "split"_p);
    names.push_back(time_text(dataset.cuts->test));
    if (k == 0 || cuts[k - 1].data.dataset.cuts->test < dataset.cuts->test) continue;
    fail(ErrorKind::input,
         "{} is cut at {}, which is not after {} of {}; give each cut once, in the order of time", folder,
         names[k], names[k - 1], cuts[k - 1].folder.string());
  }
  return names;
}

SplitsResults study_cuts(std::span<const StudyInput> cuts, const StudyOptions& options, Journal& journal,
                         Backend& backend, const Execution& execution, const StudyWatcher& watcher,
                         std::optional<Points::Clock::time_point> until, const SplitsWatcher& splits_watcher,
                         Processes* processes) {
  std::vector<std::string> names = names_of_cuts(cuts);
  std::vector<std::uint32_t> numbers;
  std::vector<StudyResults> splits;
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    numbers.push_back(static_cast<std::uint32_t>(k + 1));
    if (splits_watcher.begin) splits_watcher.begin(numbers.back(), k);
    splits.push_back(
        study(cuts.subspan(k, 1), options, journal, backend, execution, watcher, until, processes));
    if (splits_watcher.finished) splits_watcher.finished(numbers.back(), splits.back());
  }
  return over_splits(numbers, splits, std::move(names));
}

void serve_cuts(std::span<const StudyInput> cuts, const StudyOptions& options, Backend& backend,
                const Execution& execution, Processes& processes) {
  for (std::size_t k = 0; k < cuts.size(); ++k)
    serve_study(cuts.subspan(k, 1), options, backend, execution, processes);
}

void serve_splits(std::span<const StudyInput> inputs, std::span<const std::uint32_t> seeds,
                  const StudyOptions& options, Backend& backend, const Execution& execution,
                  Processes& processes) {
  for (const std::uint32_t seed : seeds)
    serve_study(split_inputs(inputs, seed, options.base.seed, execution), options, backend, execution,
                processes);
}

}  // namespace poise
