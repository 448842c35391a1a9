#include "poise/report/beyond.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "poise/report/latex.hpp"
#include "poise/report/markdown.hpp"
#include "poise/report/report.hpp"
#include "poise/study/finals.hpp"

#include "support/sample_study.hpp"

namespace poise {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// One model with weights and without on one data set.
StudyResults one_pair(double novelty, double p, double diversity_p) {
  StudyResults results;
  results.data.emplace_back().name = "shop";
  for (const RowKind kind : {RowKind::unweighted, RowKind::weighted}) {
    StudyRow row{{"shop", {.key = "wmf", .rank = 10}, kind}, {}};
    row.beyond = {{"coverage@20", {kind == RowKind::weighted ? 0.4567 : 0.25, {}}},
                  {"novelty@20", {kind == RowKind::weighted ? 8 + novelty : 8, 0.01}},
                  {"diversity@20", {0.9, 0.01}}};
    results.rows.push_back(row);
  }
  const RowName weighted = results.rows[1];
  results.beyond_pairs.push_back({{weighted, "novelty@20", {.users = 50, .difference = novelty, .p = p}}});
  results.beyond_pairs.push_back(
      {{weighted, "diversity@20", {.users = 50, .difference = 0.001, .p = diversity_p}}});
  return results;
}

TEST(BeyondAccuracy, SaysWhatIsLeftAfterCorrection) {
  EXPECT_THAT(
      report::beyond_finding(one_pair(0.5, 0.001, 0.6)),
      ::testing::StartsWith("Weighting changes what is shown: novelty@20 is higher in 1 and lower in none "
                            "of 1 (paired t tests, p < 0.05 after Holm's correction for 2 comparisons)"));
  EXPECT_THAT(report::beyond_finding(one_pair(-0.5, 0.001, 0.6)), HasSubstr("higher in none and lower in 1"));
  // 0.03 is not below 0.05 once it is doubled.
  EXPECT_EQ(report::beyond_finding(one_pair(0.5, 0.03, 0.6)),
            "Weighting makes no measurable difference to what is shown in 2 comparisons");
  StudyResults open = one_pair(0.5, 0.001, 0.6);
  for (StudyPair& pair : open.beyond_pairs) pair.complete = false;
  EXPECT_EQ(report::beyond_finding(open), "");
}

TEST(BeyondAccuracy, ArrowsOnlyWhereUsersWereCompared) {
  const std::string text = report::beyond_markdown(one_pair(0.5, 0.001, 0.6));
  EXPECT_THAT(text, HasSubstr("8.5 ↑"));
  EXPECT_THAT(text, HasSubstr("0.4567 "));
  EXPECT_THAT(text, Not(HasSubstr("0.4567 ↑")));
  EXPECT_THAT(text, Not(HasSubstr("0.9 ↑")));
  EXPECT_THAT(report::beyond_markdown(one_pair(-0.5, 0.001, 0.6)), HasSubstr("7.5 ↓"));
  EXPECT_THAT(report::beyond_html(one_pair(0.5, 0.001, 0.6)), HasSubstr("data-beyond-pair=\"0\""));
  EXPECT_THAT(report::beyond_latex(one_pair(0.5, 0.001, 0.6)), HasSubstr("8.5 $\\uparrow$"));
}

TEST(BeyondAccuracy, IsAPanelOfEveryReport) {
  const StudyResults results = test::sample_study();
  EXPECT_THAT(study_markdown(results), HasSubstr("## What is recommended, beyond accuracy"));
  EXPECT_THAT(study_html(results), HasSubstr("<section id=\"beyond\""));
  EXPECT_THAT(study_latex(results), HasSubstr("What is recommended on films."));
  EXPECT_THAT(to_csv(results), Not(HasSubstr("novelty")));
  const nlohmann::ordered_json json = to_json(results);
  EXPECT_EQ(json["beyond_accuracy_pairs"].size(), results.beyond_pairs.size());
  EXPECT_TRUE(json["rows"][0]["beyond_accuracy"]["gini@20"]["stderr"].is_null());
  const StudyResults untested = test::untested_search();
  EXPECT_FALSE(report::has_beyond(untested));
  EXPECT_THAT(study_markdown(untested), Not(HasSubstr("beyond accuracy")));
  EXPECT_THAT(study_html(untested), Not(HasSubstr("id=\"beyond\"")));
}

TEST(BeyondAccuracy, TheJournalKeepsIt) {
  const StudyResults results = one_pair(0.5, 0.001, 0.6);
  Finals finals;
  finals.rows = results.rows;
  finals.beyond_pairs = results.beyond_pairs;
  finals.per_user.resize(finals.rows.size());
  nlohmann::ordered_json entry = to_json(finals);
  const auto read = [&] { return finals_from_json(entry, "shop", results.rows[0].model); };
  EXPECT_EQ(find(read().rows[1].beyond, "novelty@20")->mean, 8.5);
  EXPECT_EQ(read().beyond_pairs[0].test.difference, 0.5);
  // An entry of an older version has none.
  entry.erase("beyond_accuracy_pairs");
  for (auto& row : entry["rows"]) row.erase("beyond_accuracy");
  EXPECT_TRUE(read().rows[1].beyond.empty());
  EXPECT_TRUE(read().beyond_pairs.empty());
}

}  // namespace
}  // namespace poise
