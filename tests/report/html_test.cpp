#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "poise/report/html_parts.hpp"
#include "poise/report/report.hpp"

#include "support/sample_study.hpp"

namespace poise {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HtmlText, EscapesMarkup) {
  EXPECT_EQ(report::html_text("<a href=\"x\" b='y'>&"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
}

TEST(StudyHtml, KeepsNamesOutOfItsMarkup) {
  const std::string page = study_html(test::sample_study());
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"));
}

TEST(StudyHtml, DataOfThePlotsReadsBackAndCannotEndItsScript) {
  const StudyResults results = test::sample_study();
  const std::string text = report::page_data(results);
  EXPECT_EQ(text.find('<'), std::string::npos);
  const auto data = nlohmann::json::parse(text);
  EXPECT_EQ(data["data"][0], results.data[0].name);
  EXPECT_EQ(data["rows"].size() + data["baselines"].size(), results.rows.size());
  EXPECT_EQ(data["points"].size(), results.points.size());
  EXPECT_EQ(data["models"].size(), 8U);
}

TEST(StudyHtml, AsksForNothingOutside) {
  const std::string page = study_html(test::sample_study());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe-eval")));
  for (const char* request : {"<link", "src=\"", "@import", "url(", "href=\"http", "sourceMappingURL"})
    EXPECT_THAT(page.substr(0, page.find("const module_texts")), Not(HasSubstr(request)));
}

TEST(StudyHtml, WithoutTestUsersSpeaksOfValidation) {
  const std::string page = study_html(test::untested_search());
  const std::string body = page.substr(0, page.find("id=\"study-data\""));
  for (const char* claim : {"test users ±", "over the test users", "Less popularity", "Wins", "id=\"pairs\"",
                            "id=\"popularity-bins\"", "measurably"})
    EXPECT_THAT(body, Not(HasSubstr(claim)));
  EXPECT_THAT(body, HasSubstr("A search by Poise"));
  EXPECT_THAT(body, HasSubstr("Means over the validation users"));
  EXPECT_THAT(body, Not(HasSubstr("1. AWMF, weight decay"))) << "one model's objective";
  EXPECT_THAT(body, HasSubstr("<dt>2. WMF</dt>"));
}

TEST(StudyHtml, RowsThatAreNotFinalStandAside) {
  const std::string page = study_html(test::unfinished_study());
  EXPECT_THAT(page, HasSubstr("<p class=\"unfinished\">"));
  EXPECT_THAT(page, HasSubstr("<small>search not complete</small>"));
  EXPECT_THAT(page, HasSubstr("<small>not trained yet</small>"));
  EXPECT_THAT(page, HasSubstr("number aside"));
}

TEST(StudyHtml, OfAnEmptyStudyIsStillAPage) {
  const std::string page = study_html({});
  EXPECT_THAT(page, HasSubstr("No weighted row"));
  EXPECT_THAT(page, HasSubstr("</html>"));
}

// The page in a browser is tests/report/test_page.py's matter, which says where to put it.
TEST(StudyHtml, WritesTheSampleForTheBrowser) {
  const char* given = std::getenv("POISE_REPORT_FOLDER");
  const std::filesystem::path folder =
      given ? given : std::filesystem::path(testing::TempDir()) / "poise_report";
  std::filesystem::create_directories(folder);
  const StudyResults results = test::sample_study();
  std::ofstream(folder / "report.html") << study_html(results);
  std::ofstream(folder / "results.json") << to_json(results).dump();
  std::ofstream(folder / "empty.html") << study_html({});
  std::ofstream(folder / "untested.html") << study_html(test::untested_search());
  std::ofstream(folder / "unfinished.html") << study_html(test::unfinished_study());
  std::ofstream(folder / "unfinished.json") << to_json(test::unfinished_study()).dump();
  EXPECT_GT(std::filesystem::file_size(folder / "report.html"),
            std::filesystem::file_size(folder / "empty.html"));
}

}  // namespace
}  // namespace poise
