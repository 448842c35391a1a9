#include "poise/report/markdown.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/report/pipe_table.hpp"

#include "support/sample_study.hpp"

namespace poise {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(PipeTable, AlignsByCharacters) {
  report::PipeTable table("lr");
  table.add({"name", "x"});
  table.add({"Käufe", "12.5"});
  table.add({"b"});
  EXPECT_EQ(table.text(),
            "| name  |    x |\n"
            "| ----- | ---: |\n"
            "| Käufe | 12.5 |\n"
            "| b     |      |\n");
}

TEST(PipeTable, EscapesWhatMarkdownWouldTakeAsItsOwn) {
  EXPECT_EQ(report::markdown_text("a|b*c`[d]\\"), "a\\|b\\*c\\`\\[d]\\\\");
  EXPECT_EQ(report::markdown_text("<script>"), "\\<script>");
  EXPECT_EQ(report::markdown_text("p < 0.001"), "p < 0.001");
  EXPECT_EQ(report::markdown_text("two\nlines"), "two lines");
  EXPECT_EQ(report::markdown_text("online_retail"), "online_retail");
}

TEST(StudyMarkdown, RowsThatAreNotFinalStandInParentheses) {
  const std::string text = study_markdown(test::unfinished_study());
  EXPECT_THAT(text, testing::HasSubstr("weighted, search not complete"));
  EXPECT_THAT(text, testing::HasSubstr("weighted, not trained yet"));
  EXPECT_THAT(text, testing::ContainsRegex("\\(0\\.[0-9]+ ±0\\.[0-9]+\\)"));
  EXPECT_THAT(study_markdown(test::sample_study()), testing::Not(testing::ContainsRegex("\\(0\\.[0-9]+ ±")));
}

TEST(StudyMarkdown, HasThePaperPairsWithTheBetterInBold) {
  const std::vector<std::string> lines = lines_of(study_markdown(test::paper_study()));
  const auto weighted = std::ranges::find_if(lines, [](const std::string& line) {
    return line.starts_with("| 3. AWMF, dropout") && line.find("0.355") != std::string::npos;
  });
  ASSERT_NE(weighted, lines.end());
  EXPECT_THAT(*weighted, HasSubstr("0.337 |"));
  EXPECT_THAT(*weighted, HasSubstr("**0.419** |"));
  EXPECT_THAT(*weighted, HasSubstr(" 5/9 |"));
  EXPECT_THAT(weighted[1], HasSubstr("the paper"));
  EXPECT_THAT(weighted[1], HasSubstr(" 4/9 |"));
  EXPECT_THAT(weighted[2], HasSubstr("**0.378** |"));
  EXPECT_THAT(weighted[2], HasSubstr(" 3/9 |"));
}

TEST(StudyMarkdown, TheExponentOfLambdaWhereThereIsOne) {
  StudyResults results = test::sample_study();
  EXPECT_THAT(study_markdown(results), testing::Not(HasSubstr("| exponent |")));
  const auto edlae = std::ranges::find_if(
      results.rows, [](const StudyRow& row) { return row.model.key == "full-rank/dropout"; });
  ASSERT_NE(edlae, results.rows.end());
  edlae->lambda_exponent = 0.375;
  const std::vector<std::string> lines = lines_of(study_markdown(results));
  EXPECT_EQ(
      std::ranges::count_if(
          lines, [](const std::string& line) { return line.find("| exponent |") != std::string::npos; }),
      1);
  EXPECT_EQ(std::ranges::count_if(
                lines, [](const std::string& line) { return line.find(" 0.375 |") != std::string::npos; }),
            1);
}

TEST(StudyMarkdown, EveryTableIsRectangular) {
  std::size_t width = 0;
  int tables = 0;
  for (const std::string& line :
       lines_of(study_markdown(test::sample_study()) + study_markdown(test::untested_search()) +
                study_markdown(test::unfinished_study()))) {
    if (!line.starts_with('|')) {
      width = 0;
      continue;
    }
    std::size_t columns = 0;
    for (std::size_t at = 0; at < line.size(); ++at)
      columns += line[at] == '|' && (at == 0 || line[at - 1] != '\\');
    tables += width == 0;
    if (width != 0) {
      EXPECT_EQ(columns, width) << line;
    }
    width = columns;
  }
  EXPECT_EQ(tables, 2 * (3 + 2 + 1 + 2) + 1 + 1);
}

TEST(StudyMarkdown, OfAnEmptyStudySaysSo) { EXPECT_THAT(study_markdown({}), HasSubstr("No weighted row")); }

}  // namespace
}  // namespace poise
