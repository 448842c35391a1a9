#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/report/report.hpp"
#include "poise/report/splits_text.hpp"

#include "support/sample_splits.hpp"

namespace poise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string only_sentence(const SplitsResults& results) {
  EXPECT_EQ(results.means.conclusions.size(), 1);
  return results.means.conclusions.empty() ? "" : results.means.conclusions.front().sentence;
}

TEST(SplitsReport, SaysAnEffectThatAllSplitsShow) {
  const SplitsResults results = test::sample_splits({0.300, 0.310, 0.350}, {0.330, 0.341, 0.379});
  EXPECT_THAT(
      only_sentence(results),
      AllOf(HasSubstr("Weighting helps the model that is best on validation, Full rank, zero diagonal"),
            HasSubstr("+0.0300 nDCG@100 on average"), HasSubstr("alpha 2 to 8"), HasSubstr("spread 0.0010"),
            HasSubstr("positive in all 3 splits")));
  EXPECT_EQ(report::splits_headline(results),
            "Over 3 splits weighting helps in 1 and hurts in 0 of one comparison");
  EXPECT_THAT(report::splits_terms(results),
              AllOf(HasSubstr("seeds 1, 2, 3"), HasSubstr("2 degrees of freedom")));
}

TEST(SplitsReport, SaysNothingStrongerThanTheSplitsShow) {
  // All three are ahead, but so unequally that three splits leave 0 possible.
  const SplitsResults ahead = test::sample_splits({0.30, 0.30, 0.30}, {0.301, 0.330, 0.310});
  EXPECT_THAT(only_sentence(ahead), AllOf(HasSubstr("3 splits do not show whether weighting helps or hurts"),
                                          HasSubstr("though the difference has the same sign in all of them"),
                                          Not(HasSubstr("Weighting helps"))));
  const SplitsResults mixed = test::sample_splits({0.30, 0.30, 0.30}, {0.29, 0.32, 0.31});
  EXPECT_THAT(only_sentence(mixed), AllOf(HasSubstr("do not show"), Not(HasSubstr("point the same way")),
                                          HasSubstr("positive in 2 of 3 splits")));
  const SplitsResults hurt = test::sample_splits({0.330, 0.341, 0.379}, {0.300, 0.310, 0.350});
  EXPECT_THAT(only_sentence(hurt), HasSubstr("Weighting hurts"));
}

TEST(SplitsReport, CountsSplitsInWords) {
  EXPECT_EQ(report::count_of_splits(2, 2), "both");
  EXPECT_EQ(report::count_of_splits(3, 3), "all 3");
  EXPECT_EQ(report::count_of_splits(1, 3), "1 of 3");
  EXPECT_EQ(report::count_of_splits(0, 3), "none of 3");
}

TEST(SplitsReport, OneSplitDecidesNothing) {
  const SplitsResults results = test::sample_splits({0.30}, {0.40});
  EXPECT_THAT(only_sentence(results),
              AllOf(HasSubstr("A single split cannot show"), Not(HasSubstr("interval"))));
  EXPECT_EQ(report::splits_headline(results), "One split, by seed 1");
}

TEST(SplitsReport, SearchesThatAreNotCompleteDecideNothing) {
  std::vector<StudyResults> splits = {test::one_split(0.30, 0.33, 2), test::one_split(0.30, 0.331, 2),
                                      test::one_split(0.30, 0.329, 2)};
  splits[1].pairs[0].complete = false;
  const std::vector<std::uint32_t> seeds = {4, 5, 6};
  SplitsResults results = over_splits(seeds, splits);
  results.means.conclusions = conclude(results);
  EXPECT_THAT(only_sentence(results),
              AllOf(HasSubstr("not complete in 1 of 3 splits"), HasSubstr("come from tuning")));
  EXPECT_THAT(splits_markdown(results),
              AllOf(HasSubstr("search not complete"), Not(HasSubstr("0.330 ±0.001 ↑"))));
}

TEST(SplitsReport, SplitsThatAreNotStudiedAreLeftOut) {
  std::vector<StudyResults> splits = {test::one_split(0.30, 0.33, 2), test::one_split(0.30, 0.331, 2),
                                      test::one_split(0.30, 0.5, 2)};
  splits[2].complete = false;
  splits[2].rows[1].final = false;
  const std::vector<std::uint32_t> seeds = {4, 5, 6};
  SplitsResults results = over_splits(seeds, splits);
  results.means.conclusions = conclude(results);
  EXPECT_EQ(results.unstudied, std::vector<std::uint32_t>{6});
  EXPECT_EQ(report::splits_headline(results), "Not complete: 2 of 3 splits are done");
  EXPECT_THAT(report::splits_terms(results), HasSubstr("too little time for the splits of the seeds 6;"));
  for (const SplitRow& row : results.rows) EXPECT_EQ(row.splits, 2);
  const std::vector<StudyResults> none = {splits[2]};
  const std::vector<std::uint32_t> one = {6};
  EXPECT_EQ(splits_files(over_splits(one, none)).size(), 5);
}

TEST(SplitsReport, ModelsBelowPopularityTeachNothing) {
  const SplitsResults results = test::sample_splits({0.05, 0.06, 0.05}, {0.06, 0.07, 0.06});
  EXPECT_EQ(report::splits_headline(results), "No model is above popularity in all of 3 splits");
  EXPECT_THAT(results.means.conclusions.front().sentence, HasSubstr("do not show whether weighting helps"));
  EXPECT_THAT(report::popularity_over_splits(results), HasSubstr("0 of 2 rows are above popularity"));
}

TEST(SplitsReport, AllFormatsHaveTheSameFigures) {
  const SplitsResults results = test::sample_splits({0.300, 0.310, 0.350}, {0.330, 0.341, 0.379});
  const auto files = splits_files(results);
  EXPECT_EQ(files.size(), 5);
  for (const char* const name : {"tables.md", "tables.tex", "report.html"}) {
    const std::string& text = files.at(name);
    for (const char* const figure : {"0.320", "0.350", "0.026", "0.0010", "2 to 8"})
      EXPECT_THAT(text, HasSubstr(figure)) << name;
  }
  EXPECT_THAT(files.at("tables.md"), HasSubstr("**0.350** ±0.026 ↑"));
  const std::string& page = files.at("report.html");
  EXPECT_THAT(page, AllOf(HasSubstr("href=\"seed-2/report.html\""), HasSubstr("shop &amp; &lt;co&gt;"),
                          Not(HasSubstr("shop & <co>")), Not(HasSubstr("<script"))));
  EXPECT_THAT(files.at("tables.tex"), HasSubstr("\\end{document}"));
}

}  // namespace
}  // namespace poise
