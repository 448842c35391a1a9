#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "poise/search/chosen.hpp"
#include "poise/search/search.hpp"
#include "poise/study/results.hpp"

namespace poise {

/// The rows of one kind, rank and data set, and their comparisons: one entry of the journal.
struct Finals {
  std::vector<StudyRow> rows;
  std::vector<StudyPair> pairs;
  std::vector<StudyPair> beyond_pairs;
  std::vector<RowComparison> against_popularity;  ///< not yet corrected
  std::vector<std::vector<double>> per_user;      ///< for each row, the study's metric on each test user
};

/// A chosen model, trained and measured on the test part.
struct MeasuredRow {
  StudyRow row;
  EvaluationResult test;  ///< of the users, one by one
};

/// The test part of one data set, read for chosen models alone. If there is none, rows have the figures of
/// the validation part and nothing is compared. If the validation part was made of training rows, the test
/// part is read for models of all rows, and validation figures are those of the point trained without the
/// validation rows.
class TestPart {
 public:
  /// All arguments must outlive it.
  TestPart(std::string data, Points& points, const AllRows& all_rows, const Execution& execution);

  /// The popularity model, as a row.
  [[nodiscard]] const StudyRow& popularity() const { return popularity_; }
  /// The study's metric on each test user.
  [[nodiscard]] std::vector<double> popularity_per_user() const;

  /// Trains a chosen point to convergence and measures it.
  MeasuredRow row_of(const StudyModel& model, RowKind kind, const ModelParameters& parameters);
  /// The rows of one model, compared with each other and with popularity.
  [[nodiscard]] Finals compare(std::vector<MeasuredRow> rows) const;
  /// All of this.
  Finals measure(const StudyModel& model, const std::vector<std::pair<RowKind, ModelParameters>>& chosen);

 private:
  /// The model to be measured on the test part, and its figures on the validation part.
  std::pair<Trained, Estimates> train(const ModelParameters& parameters);

  std::string data_;
  const Dataset& dataset_;  ///< with the test part
  Points& points_;
  Execution execution_;
  std::optional<Trainer> on_all_rows_;
  std::vector<std::int64_t> training_counts_;
  std::vector<std::int64_t> targets_;  ///< per item
  EvaluationResult popularity_test_;
  StudyRow popularity_;
};

/// Cut-off of the recall by popularity, and the number of bins.
constexpr int popularity_cutoff = 50;
constexpr int popularity_bin_count = 8;

/// Error{input} for an unknown name.
RowKind parse_row_kind(const std::string& name);

nlohmann::ordered_json to_json(const Finals& finals);
/// A row as a message between processes, without loss, as far as compare() needs it.
std::string message_of(const MeasuredRow& measured);
MeasuredRow measured_row_in(const std::string& message, const std::string& data, const StudyModel& model);
/// Error{input} if something is missing. `data` and `model` are not in the entry.
Finals finals_from_json(const nlohmann::ordered_json& json, const std::string& data, const StudyModel& model);

}  // namespace poise
