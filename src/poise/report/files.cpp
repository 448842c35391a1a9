#include "poise/report/files.hpp"

#include <nlohmann/json.hpp>

#include "poise/report/html.hpp"
#include "poise/report/latex.hpp"
#include "poise/report/markdown.hpp"

namespace poise {

std::map<std::string, std::string> study_files(const StudyResults& results) {
  return {{"tables.md", study_markdown(results)},
          {"tables.tex", study_latex(results)},
          {"results.csv", to_csv(results)},
          {"results.json", to_json(results).dump(1) + "\n"},
          {"report.html", study_html(results)}};
}

}  // namespace poise
