#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "poise/base/fields.hpp"
#include "poise/evaluate/estimates.hpp"
#include "poise/model/parameters.hpp"
#include "poise/search/grid.hpp"
#include "poise/solver/certificate.hpp"

namespace poise {

/// The estimate of that name; null if there is none.
const Estimate* find(const Estimates& estimates, std::string_view metric);

/// A studied model. Keys are the first column of the paper's tables, written as "family/regularizer":
/// "awmf/weight-decay" (the paper's model 1), "wmf" (2), "awmf/dropout" (3), "awmf/data-weight-decay" (4),
/// "full-rank" (5); beyond the paper "full-rank" with a zero diagonal, "full-rank/dropout" (EDLAE, zero
/// diagonal), "full-rank/lambda-exponent" (with either diagonal), "full-rank/dropout/lambda-exponent" and
/// "popularity".
struct StudyModel {
  std::string key;
  bool zero_diagonal = false;
  std::optional<std::int64_t> rank = {};  ///< none: full rank
  std::int64_t neighbours = 0;            ///< entries in each column of B; 0: all
  std::string weighting = "constant";     ///< the scheme's name; a study itself searches no other

  bool operator==(const StudyModel&) const = default;
};

/// What a row, a point or a profile is of.
struct RowName {
  std::string data;
  StudyModel model;
  RowKind kind = RowKind::unweighted;

  bool operator==(const RowName&) const = default;
};

/// The parameters that searches vary; 0 where a model does not have one.
struct SearchedValues {
  double alpha = 1;
  double lambda = 0;
  double dropout = 0;
  double lambda_exponent = 0;
  double gamma = 0;           ///< of weights by inverse popularity
  double feature_weight = 0;  ///< of full rank; without effect where the data have no features
  double alpha_negative = 1;  ///< of disliked entries
};
SearchedValues searched_values(const ModelParameters& parameters);

template <>
inline constexpr auto fields<SearchedValues> =
    std::tuple{Field{"alpha", &SearchedValues::alpha},
               Field{"lambda", &SearchedValues::lambda},
               Field{"dropout", &SearchedValues::dropout},
               Field{"lambda_exponent", &SearchedValues::lambda_exponent},
               Field{"gamma", &SearchedValues::gamma},
               Field{"feature_weight", &SearchedValues::feature_weight},
               Field{"alpha_negative", &SearchedValues::alpha_negative}};

/// One trained point of a search.
struct StudyPoint : RowName, SearchedValues {
  Estimates validation = {};
  double objective = 0;
  Certificate certificate = {};
  double seconds = 0;
  bool cut = false;  ///< a race cut it: the validation figure is an estimate from some of the users
};

template <>
inline constexpr auto fields<StudyPoint> = std::tuple_cat(
    fields<SearchedValues>,
    std::tuple{Field{"validation", &StudyPoint::validation}, Field{"objective", &StudyPoint::objective},
               Field{"certificate", &StudyPoint::certificate}, Field{"seconds", &StudyPoint::seconds}});

/// The state of a solve after a round (low rank) or an iteration (full rank).
struct ConvergenceStep {
  int step = 0;
  std::optional<double> objective;
  std::optional<double> certificate;  ///< relative to the explained weight
};

template <>
inline constexpr auto fields<ConvergenceStep> =
    std::tuple{Field{"step", &ConvergenceStep::step}, Field{"objective", &ConvergenceStep::objective},
               Field{"certificate", &ConvergenceStep::certificate}};

/// The recall of targets whose items have `least` to `most` training users.
struct PopularityBin {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t items = 0;
  std::int64_t targets = 0;
  double recall = 0;  ///< share of the targets that are among the top `StudyResults::popularity_cutoff`
};

template <>
inline constexpr auto fields<PopularityBin> =
    std::tuple{Field{"least", &PopularityBin::least}, Field{"most", &PopularityBin::most},
               Field{"items", &PopularityBin::items}, Field{"targets", &PopularityBin::targets},
               Field{"recall", &PopularityBin::recall}};

/// A chosen point, trained to convergence and measured once on the test part.
struct StudyRow : RowName, SearchedValues {
  Estimates validation = {};
  Estimates test = {};    ///< none where there is no test part, or where the row is not final
  Estimates beyond = {};  ///< beyond_accuracy_metrics() on the test part; none where `test` has none
  double objective = 0;
  double observed_weight = 0;
  Certificate certificate = {};
  bool converged = false;
  std::vector<ConvergenceStep> convergence = {};
  std::vector<PopularityBin> by_popularity = {};
  double seconds = 0;
  bool search_complete = true;  ///< neither time nor points ran out before validation chose
  bool interior = true;         ///< on no axis the last value that was tried
  /// Trained to convergence; if false, the time was up before, and the figures are those of the search.
  bool final = true;
};

/// What a journal keeps of a row; the rest comes from the search.
template <>
inline constexpr auto fields<StudyRow> = std::tuple_cat(
    fields<SearchedValues>,
    std::tuple{Field{"validation", &StudyRow::validation}, Field{"test", &StudyRow::test},
               Field{"beyond_accuracy", &StudyRow::beyond}, Field{"objective", &StudyRow::objective},
               Field{"observed_weight", &StudyRow::observed_weight},
               Field{"certificate", &StudyRow::certificate}, Field{"converged", &StudyRow::converged},
               Field{"convergence", &StudyRow::convergence}, Field{"by_popularity", &StudyRow::by_popularity},
               Field{"seconds", &StudyRow::seconds}});

/// The best point of one alpha, over lambda and the other searched axes, on the metric that chooses.
struct ProfilePoint : SearchedValues {
  Estimate validation = {};
  std::optional<double> paired_error =
      {};            ///< standard error of its difference from the model's best unweighted point
  bool cut = false;  ///< the validation figure is an estimate from some of the users
};

/// What validation says of one kind of points of a model: the chosen point, and its best metric against
/// alpha.
struct StudyProfile : RowName, SearchedValues {
  bool complete = true;  ///< as in StudyRow
  bool interior = true;
  std::vector<ProfilePoint> curve = {};  ///< ascending in alpha
};

/// Weighted less unweighted over the same users: the mean difference, its 95 % interval, the two-sided p.
struct PairedDifference {
  std::int64_t users = 0;
  double difference = 0;
  double low = 0;
  double high = 0;
  double p = 1;
};

template <>
inline constexpr auto fields<PairedDifference> =
    std::tuple{Field{"users", &PairedDifference::users}, Field{"difference", &PairedDifference::difference},
               Field{"low", &PairedDifference::low}, Field{"high", &PairedDifference::high},
               Field{"p", &PairedDifference::p}};

/// A row less another over the same users.
struct RowDifference : RowName {
  std::string metric = {};
  PairedDifference test = {};
};

/// A weighted row less the unweighted one.
struct StudyPair : RowDifference {
  bool complete = true;  ///< both rows' searches are complete; otherwise the difference may come from tuning
};

/// On the study's metric; p is also corrected by Holm's method.
struct RowComparison : RowDifference {
  double corrected_p = 1;
};

struct StudyData {
  std::string name;
  std::string checksum;
  std::int64_t users = 0;
  std::int64_t items = 0;
  std::int64_t interactions = 0;
  std::int64_t train_users = 0;
  std::int64_t train_interactions = 0;
  std::int64_t validation_users = 0;
  std::int64_t test_users = 0;
  std::string paper_data;  ///< "ml-20m", "netflix", "msd" if the paper's figures are shown beside; else empty
  std::int64_t validation_from_training = 0;  ///< training rows that serve as validation part
  double test_to_train = 0;  ///< test users over training users; rows over rows if both have the same users
};

/// A sentence for a rank (none: full rank) of a data set or, if `overall`, for all of it.
struct StudyConclusion {
  std::string data;
  std::optional<std::int64_t> rank;
  std::string sentence;
  bool overall = false;
};

/// A search that is not finished: points to try, chosen points to train to convergence, or all of it.
struct UnfinishedSearch {
  enum class State { searching, not_trained, not_begun };
  std::string data;
  StudyModel model;
  State state = State::not_begun;
};
/// "searching", "not trained", "not begun".
std::string_view to_string(UnfinishedSearch::State state);

struct StudyResults {
  bool of_search = false;  ///< the report of a search, which has one model
  bool complete = true;    ///< neither time nor points ran out
  std::vector<UnfinishedSearch> unfinished;
  std::vector<ModelParameters> missing;  ///< the points that would have been tried or trained next
  std::vector<std::string> metrics;      ///< "recall@20", "recall@50", "ndcg@100"
  std::string choice;                    ///< the metric that chooses, on validation: "ndcg@100"
  int popularity_cutoff = 50;
  std::vector<StudyData> data;
  std::vector<StudyRow> rows;
  std::vector<StudyPair> pairs;
  /// The same on those of beyond_accuracy_metrics() that have a value for each user.
  std::vector<StudyPair> beyond_pairs;
  std::vector<RowComparison> against_popularity;  ///< p corrected over all rows of the study
  /// Every trained row less best_on_validation() of its data, except that row itself; p corrected over the
  /// data's rows.
  std::vector<RowComparison> against_best;
  std::vector<StudyConclusion> conclusions;
  std::vector<StudyPoint> points;
  std::vector<StudyProfile> profiles;
  std::vector<std::pair<std::string, std::string>> options;  ///< name and value, as the flags are written
  std::string version;
  double seconds = 0;
};

/// What a study measures of each chosen row beyond accuracy, whatever metrics are asked for: what its lists
/// show, not how well they do. None of them chooses a point, and none counts as a win.
const std::vector<Metric>& beyond_accuracy_metrics();

/// The row of a model on a data set, and its difference from the unweighted one; null if there is none.
const StudyRow* find_row(const StudyResults& results, std::string_view data, const StudyModel& model,
                         RowKind kind);
const StudyPair* find_pair(const StudyResults& results, std::string_view data, const StudyModel& model,
                           RowKind kind, std::string_view metric);

/// Whether no row has figures of test users: the data have none, and validation figures are shown instead.
bool without_test(const StudyResults& results);

/// The row of a data set with the best validation figure, the first of equals; null if none was measured. Its
/// test figure is unbiased, because test figures had no part in the choice. If some rows have test figures,
/// only these rows count.
const StudyRow* best_on_validation(const StudyResults& results, std::string_view data);

/// The keys of docs/study.md: "rows", "pairs", "points" and the rest. Infinite values, and values that a
/// popularity row does not have, become null; text that is not UTF-8 is repaired.
nlohmann::ordered_json to_json(const StudyResults& results);

/// One line for each row and metric, numbers in the shortest form that reads back to the same; no times, no
/// paths, so that two runs of one study give the same bytes.
std::string to_csv(const StudyResults& results);

}  // namespace poise
