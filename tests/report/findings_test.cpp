#include "poise/report/findings.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sample_study.hpp"

namespace poise::report {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// A pair at each rank: the difference and its p.
StudyResults study_of(const std::vector<std::tuple<std::optional<std::int64_t>, double, double>>& pairs) {
  StudyResults results;
  results.metrics = {"recall@20", "ndcg@100"};
  results.choice = "ndcg@100";
  for (const auto& [rank, difference, p] : pairs) {
    StudyPair pair;
    pair.kind = RowKind::weighted;
    pair.model.rank = rank;
    pair.metric = "ndcg@100";
    pair.test.difference = difference;
    pair.test.p = p;
    results.pairs.push_back(pair);
    pair.metric = "recall@20";  // not what decides
    pair.test.difference = -difference;
    results.pairs.push_back(pair);
  }
  return results;
}

TEST(Findings, HeadlineCountsWhatIsSignificant) {
  EXPECT_EQ(headline(study_of({})), "No weighted row to compare with an unweighted one");
  EXPECT_EQ(headline(study_of({{10, 0.01, 0.001}, {100, 0.01, 0.2}, {{}, -0.02, 0.01}})),
            "Weighting helps in 1 of 3 comparisons and hurts in 1");
  EXPECT_EQ(headline(study_of({{10, 0.01, 0.001}, {100, 0.01, 0.01}})),
            "Weighting helps in all 2 comparisons");
  EXPECT_EQ(headline(study_of({{10, -0.01, 0.001}, {100, 0.01, 0.6}})),
            "Weighting hurts in 1 of 2 comparisons");
  EXPECT_EQ(headline(study_of({{10, -0.01, 0.3}})),
            "Weighting makes no measurable difference in 1 of 1 comparison");
}

/// A difference of rows that were not searched to the end may come from tuning.
TEST(Findings, IncompleteSearchesSayNothing) {
  StudyResults results = study_of({{10, 0.01, 0.001}, {100, 0.02, 0.001}, {{}, -0.02, 0.01}});
  const auto cut_short = [&](std::size_t pair) {
    results.pairs[2 * pair].complete = false;
    results.pairs[2 * pair + 1].complete = false;
  };
  cut_short(1);
  EXPECT_EQ(headline(results), "Weighting helps in 1 of 2 comparisons and hurts in 1");
  EXPECT_THAT(headline_terms(results),
              EndsWith("One comparison is left out: its search is not complete, and the "
                       "difference may come from tuning."));
  EXPECT_EQ(rank_finding(results, 100), "");
  cut_short(0);
  cut_short(2);
  EXPECT_EQ(headline(results), "No search is complete, so nothing is said about weighting");
  EXPECT_THAT(headline_terms(results), HasSubstr("3 comparisons are left out"));
}

TEST(Findings, AStudyThatIsNotCompleteSaysSoFirst) {
  StudyResults results = study_of({{10, 0.01, 0.001}, {100, 0.01, 0.2}});
  EXPECT_EQ(unfinished_finding(results), "");
  results.complete = false;
  EXPECT_EQ(headline(results), "Not complete: so far weighting helps in 1 of 2 comparisons");
  results.pairs.clear();
  EXPECT_EQ(headline(results), "Not complete: nothing can be said about weighting yet");
  using State = UnfinishedSearch::State;
  results.unfinished = {{.data = "shop", .model = {.key = "wmf", .rank = 10}, .state = State::searching}};
  EXPECT_EQ(unfinished_finding(results),
            "Time or points ran out in the search of WMF, rank 10. With more time or points the same command "
            "continues from its journal.");
  results.unfinished.push_back({.data = "shop", .model = {.key = "full-rank"}, .state = State::not_trained});
  results.unfinished.push_back(
      {.data = "films", .model = {.key = "wmf", .rank = 10}, .state = State::not_begun});
  StudyRow row;
  row.final = false;
  results.rows = {row, row};
  results.rows[1].test = {{"ndcg@100", {.mean = 0.2, .standard_error = {}}}};
  EXPECT_EQ(
      unfinished_finding(results),
      "Time or points ran out in the search of WMF, rank 10 on shop. What validation chose is not trained to "
      "convergence yet for Full rank on shop. Not begun: WMF, rank 10 on films. Rows that are not trained to "
      "convergence have the search's figures on the validation users, which stand in parentheses. With more "
      "time "
      "or points the same command continues from its journal.");
}

TEST(Findings, WithoutTestUsersNothingIsAnEffect) {
  const StudyResults results = test::untested_search();
  EXPECT_EQ(headline(results), "What validation chose, with no test users to confirm it");
  EXPECT_THAT(headline_terms(results), HasSubstr("no difference is called an effect of weighting"));
  EXPECT_THAT(best_finding(results, "films"), EndsWith(" on the validation users."));
}

TEST(Findings, TermsCorrectForTheNumberOfComparisons) {
  EXPECT_THAT(
      headline_terms(study_of({{10, 0.01, 0.001}, {100, 0.01, 0.04}, {{}, -0.02, 0.03}, {5, 0, 0.9}})),
      EndsWith("One shows no measurable difference. Some of so many comparisons pass by chance: after Holm's "
               "correction weighting helps in 1 and hurts in none."));
  EXPECT_THAT(headline_terms(study_of({{10, 0.01, 0.001}})), EndsWith("paired t test, p < 0.05."));
}

TEST(Findings, ARankHasCountsAndNoAverage) {
  const StudyResults results =
      study_of({{{}, -0.02, 0.1}, {10, 0.01, 0.01}, {10, 0.03, 0.1}, {10, -0.01, 0.02}, {50, 0.2, 0.001}});
  EXPECT_EQ(rank_finding(results, 10), "weighting helps 1 of 3 models and hurts 1");
  EXPECT_EQ(rank_finding(results, 50), "weighting helps 1 of 1 model");
  EXPECT_EQ(rank_finding(results, {}), "weighting makes no measurable difference to 1 of 1 model");
  EXPECT_EQ(rank_finding(results, 7), "");
}

TEST(Findings, PopularityNeedsTheCorrectedP) {
  StudyResults results;
  results.against_popularity.resize(2);
  results.against_popularity[0].test = {.users = 9, .difference = 0.1, .low = 0, .high = 0, .p = 0.04};
  results.against_popularity[0].corrected_p = 0.08;
  EXPECT_EQ(popularity_finding(results), "No row beats popularity");
  results.against_popularity[0].corrected_p = 0.04;
  EXPECT_EQ(popularity_finding(results), "1 of 2 rows beat popularity");
  results.against_popularity[0].test.difference = -0.1;
  EXPECT_EQ(popularity_finding(results), "No row beats popularity");
}

// Rows of one data set with their validation and test figures; the first is the best on validation.
StudyResults rows_of(const std::vector<std::tuple<std::string, double, double>>& rows) {
  StudyResults results;
  results.choice = "ndcg@100";
  for (const auto& [key, validation, test] : rows) {
    StudyRow row;
    row.data = "shop";
    row.model.key = key;
    row.validation = {{"ndcg@100", {.mean = validation, .standard_error = 0.01}}};
    row.test = {{"ndcg@100", {.mean = test, .standard_error = 0.01}}};
    results.rows.push_back(row);
  }
  return results;
}

RowComparison comparison(const std::string& key, double difference, double corrected_p) {
  return {{{.data = "shop", .model = {.key = key}},
           "ndcg@100",
           {.users = 9, .difference = difference, .low = 0, .high = 0, .p = corrected_p / 2}},
          corrected_p};
}

TEST(Findings, TheBestIsChosenOnValidation) {
  const StudyResults results = rows_of({{"a", 0.30, 0.28}, {"b", 0.29, 0.31}, {"c", 0.30, 0.40}});
  EXPECT_EQ(best_finding(results, "shop"),
            "Best on validation: a, unweighted, with nDCG@100 0.280 ±0.010 on the test users.");
  EXPECT_EQ(best_finding(results, "no such data"), "");
}

TEST(Findings, RowsThatAreNotFinalAreNotTheBest) {
  StudyResults results = rows_of({{"a", 0.30, 0.28}, {"b", 0.29, 0.31}});
  results.rows[0].test.clear();
  EXPECT_EQ(best_finding(results, "shop"),
            "Best on validation: b, unweighted, with nDCG@100 0.310 ±0.010 on the test users.");
  results.rows[1].test.clear();
  EXPECT_EQ(best_finding(results, "shop"),
            "Best on validation: a, unweighted, with nDCG@100 0.300 ±0.010 on the validation users.");
}

TEST(Findings, WhatCannotBeToldApartIsSaid) {
  StudyResults results = rows_of({{"a", 0.30, 0.28}, {"b", 0.29, 0.27}, {"c", 0.28, 0.20}});
  results.against_best = {comparison("b", -0.01, 0.3), comparison("c", -0.08, 0.001)};
  EXPECT_THAT(
      best_finding(results, "shop"),
      EndsWith("on the test users. On the test users it does not differ measurably from b, unweighted. The "
               "other row is measurably "
               "less accurate. (Paired t tests, p < 0.05 after Holm's correction for 2 comparisons.)"));
  results.against_best[0].corrected_p = 0.04;
  EXPECT_THAT(best_finding(results, "shop"),
              HasSubstr("users. All 2 other rows are measurably less accurate. (Paired"));
  results.against_best[0].test.difference = 0.01;
  EXPECT_THAT(best_finding(results, "shop"),
              HasSubstr(" On the test users b, unweighted is measurably more accurate. The other row is"));
}

TEST(Findings, OfManyRowsTheNearestAreNamed) {
  StudyResults results = rows_of({{"a", 0.30, 0.28}});
  for (const char* key : {"f", "e", "d", "c", "b"})
    results.against_best.push_back(comparison(key, -0.01 * (key[0] - 'a'), 0.3));
  EXPECT_THAT(best_finding(results, "shop"),
              HasSubstr("does not differ measurably from b, unweighted; c, unweighted; d, unweighted; e, "
                        "unweighted; and 1 more. "
                        "(Paired"));
}

TEST(Findings, CertificatesOfFullAndLowRankAreToldApart) {
  StudyResults results = test::sample_study();
  EXPECT_EQ(certificate_finding(results),
            "Full-rank objectives lie within 2.5e-7 of the explained weight of their minima; solving a "
            "low-rank factor again "
            "would gain at most 2.5e-7 of it; 4 of 46 rows did not converge");
  results.rows[1].certificate.relative = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(certificate_finding(results),
              HasSubstr("of it; 1 of 46 rows have no certificate; 4 of 46 rows did"));
  std::erase_if(results.rows, [](const StudyRow& row) { return !row.model.rank || !row.converged; });
  results.rows[0].certificate.relative = 3e-7;
  EXPECT_EQ(certificate_finding(results),
            "Solving a factor again would gain at most 3.0e-7 of the explained weight");
  EXPECT_EQ(certificate_finding({}), "");
}

}  // namespace
}  // namespace poise::report
