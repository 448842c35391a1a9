#include "poise/report/latex.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sample_study.hpp"

namespace poise {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LatexText, EscapesSpecialCharacters) {
  EXPECT_EQ(report::latex_text("100%_$#{a}&"), "100\\%\\_\\$\\#\\{a\\}\\&");
  EXPECT_EQ(report::latex_text("\\~^"), "\\textbackslash{}\\textasciitilde{}\\textasciicircum{}");
  EXPECT_EQ(report::latex_text("a--b"), "a-{}-{}b");
  EXPECT_EQ(report::latex_text("<p>"), "\\textless{}p\\textgreater{}");
  EXPECT_EQ(report::latex_text("[1]*"), "{[}1{]}{*}");
  EXPECT_EQ(report::latex_text("a\nb"), "a b");
}

TEST(LatexText, NamesWhatItsFontsLack) {
  EXPECT_EQ(report::latex_text("Käufe, Čapek"), "Käufe, Čapek");
  EXPECT_EQ(report::latex_text("中"), "{[}U+4E2D{]}");
  EXPECT_EQ(report::latex_text("\xF0\x9F\x98\x80"), "{[}U+1F600{]}");
  EXPECT_EQ(report::latex_text("caf\xE9"), "caf{[}xE9{]}");
  EXPECT_EQ(report::latex_text("\xC3"), "{[}xC3{]}");
}

TEST(StudyLatex, HasThePaperPairs) {
  const std::string text = study_latex(test::paper_study());
  EXPECT_THAT(
      text,
      HasSubstr("3. AWMF, dropout & weighted & 0.355 & 0.491 & 0.388 & 2 & 0.337 & \\textbf{0.419} & "
                "\\textbf{0.370} & 2 & \\textbf{0.227} & \\textbf{0.311} & \\textbf{0.277} & 10 & 5/9"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(StudyLatex, Compiles) {
  if (std::system("command -v pdflatex >/dev/null 2>&1") != 0) GTEST_SKIP() << "pdflatex is not installed";
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "poise_latex";
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const StudyResults& results :
       {test::sample_study(), test::paper_study(), test::untested_search(), test::unfinished_study()}) {
    const std::string name = fmt::format("tables{}", number++);
    std::ofstream(folder / (name + ".tex")) << study_latex(results);
    const std::string command = fmt::format(
        "cd '{}' && timeout 60 pdflatex -halt-on-error -interaction=nonstopmode {}.tex >{}.out 2>&1",
        folder.string(), name, name);
    EXPECT_EQ(std::system(command.c_str()), 0) << "see " << (folder / (name + ".out"));
    EXPECT_TRUE(std::filesystem::exists(folder / (name + ".pdf")));
  }
}

}  // namespace
}  // namespace poise
