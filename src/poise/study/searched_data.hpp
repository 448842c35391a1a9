#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "poise/search/point_team.hpp"
#include "poise/study/finals.hpp"

namespace poise {

/// Results without rows: the metrics and the version.
StudyResults no_results(const MeasureOptions& measure);

/// A model's search.
struct Searched {
  const StudyModel& model;
  const SearchSpace& space;
  const SearchResult& result;
};

/// Trains and measures a chosen point that another process asks for.
std::string answer_to_chosen(const std::string& message, TestPart& part);

/// The results of searches on one data set, as a part of a study: points, profiles, the chosen rows and their
/// comparisons. A study's own searches and that of `poise search --report` are added here.
class SearchedData {
 public:
  /// `name`: the data's name in the tables; `paper_data`: see StudyData. `journal` may be null.
  SearchedData(std::string name, std::string paper_data, Points& points, AllRows all_rows, Journal* journal,
               const Execution& execution, std::optional<Points::Clock::time_point> until,
               StudyResults& results);

  /// Adds one model's search. Its chosen points are trained to convergence and measured on the test part, if
  /// there is one, or taken from the journal. When the time is up nothing more is trained, and the rows have
  /// the validation figures of the search.
  void add(const StudyModel& model, const SearchSpace& space, const SearchResult& result);

  /// Before they are added: trains the chosen points of all these searches with other processes, which
  /// answer_to_chosen() there, and puts them into the journal, which add() reads.
  void measure_together(PointTeam& team, const std::vector<Searched>& searches);

  /// After the last model: adds the data themselves, popularity as a row, and every row less the best one.
  /// Adds nothing for data that were not begun when the time was up, if there are others.
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
  /// The chosen points as they are trained to convergence, and their name in the journal.
  [[nodiscard]] std::pair<Chosen, std::string> converged(const Chosen& chosen,
                                                         const SearchSpace& space) const;
  /// None if they would have to be trained and the time is up.
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
  std::vector<std::vector<double>> per_user_;  ///< for each row of the data, on the study's metric
};

/// Once all data sets are added: Holm's correction of the comparisons with popularity, over all rows.
void correct_against_popularity(StudyResults& results);

}  // namespace poise
