#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "poise/study/finals.hpp"

namespace poise {

/// Results without rows: what is measured, and by which version.
StudyResults no_results(const MeasureOptions& measure);

/// What searches on one data set found, as a part of a study: points, profiles, the chosen rows, and what
/// sets them against each other. The study's own searches come here, and that of `poise search --report`.
class SearchedData {
 public:
  /// `name`: what the tables call the points' data; `paper_data`: see StudyData. `journal` may be null.
  SearchedData(std::string name, std::string paper_data, Points& points, AllRows all_rows, Journal* journal,
               const Execution& execution, std::optional<Points::Clock::time_point> until,
               StudyResults& results);

  /// One model's search. Its chosen points are trained to convergence and measured on the test part, where
  /// there is one; what the journal has is taken from there. When the time is up nothing is trained any more,
  /// and the rows have the validation figures of the search.
  void add(const StudyModel& model, const SearchSpace& space, const SearchResult& result);

  /// After the last model: the data themselves, popularity as a row, and every row less the best one. Nothing
  /// of data that the time did not suffice to begin, beside others.
  void finish();

 private:
  using Chosen = std::vector<std::pair<RowKind, ModelParameters>>;

  [[nodiscard]] bool time_is_up() const;
  TestPart& test_part();
  [[nodiscard]] StudyPoint study_point(const StudyModel& model, const ModelParameters& parameters) const;
  [[nodiscard]] ProfilePoint profile_point(const ModelParameters& point, const SearchResult& result) const;
  [[nodiscard]] std::vector<StudyProfile> profiles_of(const StudyModel& model, const SearchSpace& space,
                                                      const SearchResult& result) const;
  [[nodiscard]] Chosen rows_of(const SearchSpace& space, const SearchResult& result) const;
  /// None where they would have to be trained and the time is up.
  std::optional<Finals> finals_of(const StudyModel& model, const Chosen& chosen, const SearchSpace& space);
  /// The chosen points as the search measured them.
  [[nodiscard]] Finals searched_rows(const StudyModel& model, const Chosen& chosen) const;
  void leave(const StudyModel& model, UnfinishedSearch::State state,
             const std::vector<ModelParameters>& missing);
  void append(Finals finals);
  void compare_with_best();

  std::string name_;
  std::string paper_data_;
  Points& points_;
  AllRows all_rows_;
  Journal* journal_;
  Execution execution_;
  std::optional<Points::Clock::time_point> until_;
  StudyResults& results_;
  std::optional<TestPart> test_part_;
  std::vector<std::vector<double>> per_user_;  ///< of each row of the data, on the study's metric
};

/// Once all data sets are there: Holm's correction of what is said against popularity, over all rows.
void correct_against_popularity(StudyResults& results);

}  // namespace poise
