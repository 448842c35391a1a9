#include "poise/report/findings.hpp"

#include <gtest/gtest.h>

#include "support/sample_study.hpp"

namespace poise::report {
namespace {

// A pair at each rank: the difference and its p.
StudyResults study_of(const std::vector<std::tuple<std::optional<std::int64_t>, double, double>>& pairs) {
  StudyResults results;
  results.metrics = {"recall@20", "ndcg@100"};
  results.choice = "ndcg@100";
  for (const auto& [rank, difference, p] : pairs) {
    StudyPair pair;
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

TEST(Findings, GainsAreMeansByRankSmallestFirst) {
  const auto gains = gains_by_rank(study_of({{{}, -0.02, 0.1}, {10, 0.01, 0.1}, {10, 0.03, 0.1}}));
  ASSERT_EQ(gains.size(), 2U);
  EXPECT_EQ(gains[0].rank, 10);
  EXPECT_DOUBLE_EQ(gains[0].mean, 0.02);
  EXPECT_EQ(gains[1].rank, std::nullopt);
  EXPECT_EQ(rank_finding(study_of({{{}, -0.02, 0.1}, {10, 0.01, 0.1}})),
            "Weighting changes nDCG@100 by +0.0100 at rank 10, -0.0200 at full rank");
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

TEST(Findings, TheMostAccurateRowIsNamed) {
  const StudyResults results = test::sample_study();
  EXPECT_EQ(best_finding(results, "films"),
            "Most accurate: EDLAE (full rank, dropout), unweighted, nDCG@100 0.441");
  EXPECT_EQ(best_finding(results, "no such data"), "");
}

TEST(Findings, CertificatesTellOfRowsThatDidNotConverge) {
  EXPECT_EQ(certificate_finding(test::sample_study()),
            "Every row is certified to 2.5e-7 of its explained weight; 4 of 46 rows did not converge");
}

}  // namespace
}  // namespace poise::report
