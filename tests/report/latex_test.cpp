#include "poise/report/latex.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sample_study.hpp"

namespace poise {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Where LaTeX would stop in a document of such tables, and at what; empty where it would not. Without LaTeX
/// itself, which not every machine has.
class LatexReader {
 public:
  static std::string fault(std::string_view text) {
    const std::size_t begin = text.find("\\begin{document}");
    if (begin == std::string_view::npos) return "no document";
    LatexReader reader{text.substr(begin)};
    while (reader.at_ < reader.text_.size())
      if (!reader.step()) return fmt::format("at \"{}\"", reader.text_.substr(reader.at_, 40));
    return reader.open_.empty() ? "" : "open: " + reader.open_.back();
  }

 private:
  explicit LatexReader(std::string_view text) : text_(text) {}

  bool step() {
    const char c = text_[at_];
    if (c == '\\') return command();
    if (c == '%') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return true;
    }
    if (c == '#' || ((c == '_' || c == '^') && !is_open("$")) || (c == '&' && !next_cell(1)) ||
        (c == '}' && !close("{")))
      return false;
    if (c == '{') open_.emplace_back("{");
    if (c == '$' && !close("$")) open_.emplace_back("$");
    ++at_;
    return true;
  }

  bool command() {
    const auto end = std::find_if_not(text_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, text_.end(),
                                      [](unsigned char c) { return std::isalpha(c) != 0; });
    const auto length = static_cast<std::size_t>(end - text_.begin()) - at_ - 1;
    const std::string name(text_.substr(at_ + 1, std::max<std::size_t>(length, 1)));
    static constexpr std::string_view known =
        " begin end caption centering fitted noindent quad textbf pmse multicolumn toprule midrule "
        "bottomrule cmidrule "
        "addlinespace alpha lambda gamma uparrow downarrow textbackslash textasciitilde textasciicircum "
        "textasciigrave textless textgreater textbar textquotedbl textquotesingle \\ , & % $ # _ { } ";
    if (known.find(" " + name + " ") == std::string_view::npos) return false;
    const std::size_t after = at_ + 1 + name.size();
    if (name == "\\") cells_ = 1;
    if (name == "multicolumn" && !next_cell(std::stoul(argument(after)) - 1)) return false;
    if (name == "end" && !close(argument(after))) return false;
    if (name == "begin") {
      open_.push_back(argument(after));
      if (is_open("tabular")) columns_ = argument(text_.find('}', after) + 1).size();
    }
    // What is in braces after these names something.
    at_ = name == "begin" || name == "end" ? text_.find('}', after) + 1 : after;
    return true;
  }

  [[nodiscard]] std::string argument(std::size_t from) const {
    const std::size_t end = text_.find('}', from);
    return text_.at(from) == '{' && end != std::string_view::npos
               ? std::string(text_.substr(from + 1, end - from - 1))
               : "";
  }
  [[nodiscard]] bool is_open(std::string_view what) const { return !open_.empty() && open_.back() == what; }
  bool close(std::string_view what) {
    if (!is_open(what)) return false;
    open_.pop_back();
    return true;
  }
  /// A cell that begins in a row of a table, or columns more that one takes.
  bool next_cell(std::size_t more) { return is_open("tabular") && (cells_ += more) <= columns_; }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> open_ = {};  ///< braces, formulas and environments
  std::size_t columns_ = 0;             ///< of the table
  std::size_t cells_ = 1;               ///< of its row so far
};

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
  const bool installed = std::system("command -v pdflatex >/dev/null 2>&1") == 0;
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "poise_latex";
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const StudyResults& results :
       {test::sample_study(), test::paper_study(), test::untested_search(), test::unfinished_study()}) {
    const std::string text = study_latex(results);
    EXPECT_EQ(LatexReader::fault(text), "");
    if (!installed) continue;
    const std::string name = fmt::format("tables{}", number++);
    std::ofstream(folder / (name + ".tex")) << text;
    const std::string command = fmt::format(
        "cd '{}' && timeout 60 pdflatex -halt-on-error -interaction=nonstopmode {}.tex >{}.out 2>&1",
        folder.string(), name, name);
    EXPECT_EQ(std::system(command.c_str()), 0) << "see " << (folder / (name + ".out"));
    EXPECT_TRUE(std::filesystem::exists(folder / (name + ".pdf")));
  }
}

TEST(StudyLatex, FaultsAreFound) {
  const std::string sound = study_latex(test::paper_study());
  const auto with = [&](std::string_view place, std::string_view text) {
    std::string spoiled = sound;
    const std::size_t at = spoiled.find(place);
    EXPECT_NE(at, std::string::npos) << place;
    return LatexReader::fault(spoiled.replace(at, place.size(), text));
  };
  EXPECT_EQ(with("\\midrule", "\\midrule"), "");
  for (const auto& [place, text] :
       std::vector<std::pair<std::string, std::string>>{{"\\midrule", "\\midrul"},
                                                        {"\\midrule", "a_b"},
                                                        {"\\midrule", "a # b"},
                                                        {"\\midrule", "{"},
                                                        {"\\midrule", "}"},
                                                        {"\\midrule", "$"},
                                                        {"\\midrule", "\\textbf{a & b}"},
                                                        {"\\noindent", "a & b"},
                                                        {"\\end{tabular}", ""},
                                                        {"\\multicolumn{4}", "\\multicolumn{400}"},
                                                        {"\\begin{tabular}{llr", "\\begin{tabular}{l"},
                                                        {"\\end{document}", "\\end{table}"}})
    EXPECT_NE(with(place, text), "") << text;
}

}  // namespace
}  // namespace poise
